"""Reads {folder, prefix, batches, steps} from stdin and saves tokens and logits as aiu-fms-testing-utils does: of float32, and
of bfloat16 led along the tokens of float32."""
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workers", "python"))
from assay_worker.engines.matrix_tiles import avoid_forbidden_tiles

asked = json.load(sys.stdin)
torch.set_num_threads(1)
avoid_forbidden_tiles(torch)


def decode(dtype, batch, forced):
    model = AutoModelForCausalLM.from_pretrained(asked["folder"], dtype=dtype, local_files_only=True).eval()
    ids, mask = torch.tensor(batch["ids"]), torch.tensor(batch["mask"])
    tokens, positions, cache, logits = ids, (mask.cumsum(-1) - 1).clamp(min=0), None, []
    for step in range(asked["steps"]):
        with torch.no_grad():
            output = model(input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        logits.append(output.logits[:, -1, :].float())
        ids = logits[-1].argmax(-1, keepdim=True) if forced is None else forced[:, tokens.shape[1]:][:, :1]
        tokens, mask = torch.cat([tokens, ids], dim=-1), torch.cat([mask, torch.ones_like(ids)], dim=-1)
        positions = positions[:, -1:] + 1
    return tokens, torch.stack(logits, dim=1)


def save(device, index, tokens, logits):
    folder = f"{asked['prefix']}.{device}_validation_info.{index}.out"
    os.makedirs(folder)
    for i in range(len(tokens)):
        torch.save({"tokens": tokens[i].clone(), "logits": logits[i].clone()}, os.path.join(folder, f"{i}.pt"))


for index, batch in enumerate(asked["batches"]):
    tokens, logits = decode(torch.float32, batch, None)
    save("cpu", index, tokens, logits)
    save("cuda", index, *decode(torch.bfloat16, batch, tokens))
