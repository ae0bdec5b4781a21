"""Case d07: exactly one BOS token goes into the model."""

from pathlib import Path

from tests.trimem.llm.tiny import make_tiny_model
from trimem.llm.base import Message, Request
from trimem.llm.transformers_local import TransformersLocal


def test_ids_are_those_of_the_chat_template_with_one_bos(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = make_tiny_model(tmp_path)
    ids = TransformersLocal(folder).prompt_ids(Request((Message("system", "hello"), Message("user", "boat")), "answer"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "system", "content": "hello"}, {"role": "user", "content": "boat"}]
    wanted = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)
    assert ids == list(wanted["input_ids"])
    assert ids.count(tokenizer.bos_token_id) == 1 and ids[0] == tokenizer.bos_token_id
