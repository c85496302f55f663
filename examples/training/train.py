"""Trains a small Llama-architecture decoder on Shakespeare, on a CPU, and writes it as a Hugging Face folder.

    python train.py --steps 1000
    python train.py --resume work/step_999.pt --speeches 8 --schedule 1300 --steps 1300 --export ../decoders/shakespeare

Every step draws its batch from the seed and its own number, so training resumed from a checkpoint sees what the first one saw.
"""
import argparse
import json
import math
import sys
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

TEXT = Path(__file__).with_name("shakespeare.txt")
END = "<|endoftext|>"
VOCABULARY = 1024
WINDOW = 256
BATCH = 8
HELD_OUT = 0.05
PEAK_RATE, LAST_RATE, WARM_UP_STEPS = 3e-3, 1e-4, 100


def main():
    options = parse()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    scenes = read_scenes(options.speeches)
    tokenizer = make_tokenizer(options.tokenizer or options.work / "tokenizer.json", scenes)
    train_ids, held_out_ids = read_ids(tokenizer, scenes)
    model = LlamaForCausalLM(configuration())
    optimizer = make_optimizer(model)
    first = resume(options.resume, model, optimizer) if options.resume else 0
    check_steps(first, options)
    if first == 0:
        print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(train_ids)} tokens to train on", flush=True)
    train(model, optimizer, train_ids, held_out_ids, first, options)
    if options.export:
        export(model, tokenizer, options.export)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("work"), help="where tokenizer and checkpoints are kept")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json; made and kept with the checkpoints where it is not given")
    parser.add_argument("--export", type=Path, help="the folder that the trained model is written to")
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--start-step", type=int, help="the step to go on with; it must be the one after the checkpoint's last")
    parser.add_argument("--steps", type=int, default=1500, help="the step to stop before")
    parser.add_argument("--schedule", type=int, default=1500, help="steps that the learning rate is planned for")
    parser.add_argument("--save-every", type=int, default=250, help="steps between checkpoints; 0: none")
    parser.add_argument("--check-every", type=int, default=100, help="steps between losses on held-out text; 0: none")
    parser.add_argument("--speeches", type=int, default=3, help="speeches between two ends of text")
    parser.add_argument("--all-digits", action="store_true", help="print losses and norms so that nothing of them is lost")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def configuration():
    return LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=128, intermediate_size=352, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, tie_word_embeddings=True,
        bos_token_id=0, eos_token_id=0, pad_token_id=0, rms_norm_eps=1e-5,
    )


def read_scenes(speeches_per_scene):
    """The text has no scenes marked: every few speeches are one, and end with a token that the model learns."""
    speeches = TEXT.read_text(encoding="utf-8").strip().split("\n\n")
    return ["\n\n".join(speeches[i:i + speeches_per_scene]) for i in range(0, len(speeches), speeches_per_scene)]


def make_tokenizer(path, scenes):
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[END], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(scenes, trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))
    return tokenizer


def read_ids(tokenizer, scenes):
    end = tokenizer.token_to_id(END)
    encoded = [[*tokenizer.encode(scene).ids, end] for scene in scenes]
    border = round(len(encoded) * (1 - HELD_OUT))
    return tuple(torch.tensor([token for scene in part for token in scene]) for part in (encoded[:border], encoded[border:]))


def make_optimizer(model):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.95))


def resume(path, model, optimizer):
    saved = torch.load(path, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["next_step"]


def check_steps(first, options):
    if options.start_step not in (None, first):
        sys.exit(f"train.py: training goes on with step {first}, not with --start-step {options.start_step}")
    if first >= options.steps and not options.export:
        sys.exit(f"train.py: nothing to do: it would go on with step {first} and stop before step {options.steps}")


def train(model, optimizer, train_ids, held_out_ids, first, options):
    model.train()
    for step in range(first, options.steps):
        started = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options.schedule)
        batch = windows(train_ids, options.seed, step)
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        milliseconds = (time.perf_counter() - started) * 1000
        form = "" if options.all_digits else ".6f"
        print(f"step {step} loss {loss.item():{form}} grad_norm {norm.item():{form}} ms {milliseconds:.0f}", flush=True)
        if options.check_every and (step + 1) % options.check_every == 0:
            print(f"held_out {step} loss {held_out_loss(model, held_out_ids):.6f}", flush=True)
        if options.save_every and (step + 1) % options.save_every == 0:
            save(options.work / f"step_{step}.pt", model, optimizer, step + 1)


def learning_rate(step, planned):
    if step < WARM_UP_STEPS:
        return PEAK_RATE * (step + 1) / WARM_UP_STEPS
    progress = min(1.0, (step - WARM_UP_STEPS) / max(1, planned - WARM_UP_STEPS))
    return LAST_RATE + (PEAK_RATE - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * progress))


def windows(ids, seed, step):
    generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
    starts = torch.randint(len(ids) - WINDOW, (BATCH,), generator=generator)
    return torch.stack([ids[start:start + WINDOW] for start in starts.tolist()])


@torch.no_grad()
def held_out_loss(model, ids):
    model.eval()
    rows = ids[:len(ids) // WINDOW * WINDOW].view(-1, WINDOW)
    losses = [model(input_ids=part, labels=part).loss.item() * len(part) for part in rows.split(BATCH)]
    model.train()
    return sum(losses) / len(rows)


def save(path, model, optimizer, next_step):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "next_step": next_step}, path)
    print(f"saved {path}", flush=True)


def export(model, tokenizer, folder):
    """Weights, configuration and tokenizer as transformers and transformers.js read them."""
    model.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=0, pad_token_id=0, do_sample=False)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    words = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END, "pad_token": END, "padding_side": "left",
             "model_max_length": model.config.max_position_embeddings, "clean_up_tokenization_spaces": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(words, indent=2) + "\n")
    print(f"exported {folder}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
