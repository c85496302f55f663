"""Reads {folders, ids, mask, steps} from stdin; prints, for each folder, the logits of the last position at every greedy step."""
import json
import sys

import torch
from transformers import AutoModelForCausalLM


def decode(folder, ids, mask, count):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    cache, steps = None, []
    for _ in range(count):
        with torch.no_grad():
            output = model(
                input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True
            )
        cache, logits = output.past_key_values, output.logits[:, -1, :]
        steps.append(logits.tolist())
        ids = logits.argmax(-1, keepdim=True)
        mask = torch.cat([mask, torch.ones_like(ids)], dim=-1)
        positions = positions[:, -1:] + 1
    return steps


asked = json.load(sys.stdin)
torch.set_num_threads(1)
ids, mask = torch.tensor(asked["ids"]), torch.tensor(asked["mask"])
json.dump([decode(folder, ids, mask, asked["steps"]) for folder in asked["folders"]], sys.stdout)
