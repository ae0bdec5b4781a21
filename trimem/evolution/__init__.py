"""Better prompts from failed answers, by textual gradients (the paper's third pillar; Yuksekgonul et al., TextGrad)."""
