"""A language model small enough to be made by a test: random weights, a word a token, a chat template with BOS."""

from pathlib import Path

WORDS = "system user assistant hello Paris Lisbon where what is the city of Ana boat sails".split()  # noqa: SIM905
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] }} {{ m['content'] }} </s> {% endfor %}"
    "{% if add_generation_prompt %}assistant {% endif %}"
)


def make_tiny_model(folder: Path, context: int = 64) -> str:
    """Write model and tokenizer into `folder`; its path. `context` is tokens.

    The tokenizer adds a BOS to plain text, as Llama's does.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(["<s>", "</s>", "<unk>", *WORDS])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(str(folder))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=context,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=1.0,  # else every prompt gives the same first token
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return str(folder)
