# The peer of bench/kernels.mjs: answers orders of one JSON line each with one JSON line.
import json, resource, sys, time
import numpy as np
import torch

ROWS, SIZE, ELEMENTS, TOP = 128, 128256, 100_000_000, 20
folder = sys.argv[1]

def make():
    random = np.random.default_rng(7)
    kinds = (('logits', ROWS, 2.0, 0.02), ('tiny', 4, 2.0, 1e-4), ('wide', 4, 30.0, 0.3), ('model', 32, 2.0, 0.02), ('model-tiny', 32, 2.0, 1e-4))
    for name, rows, spread, noise in kinds:
        r = random.standard_normal((rows, SIZE), dtype=np.float32) * np.float32(spread)
        if name.startswith('model'):  # as a language model gives them: a few tokens far above many
            for row in r: row[random.integers(0, SIZE, 32)] = random.uniform(10, 18, 32)
        t = r + np.float32(noise) * random.standard_normal((rows, SIZE), dtype=np.float32)
        np.save(f'{folder}/{name}-reference.npy', r)
        np.save(f'{folder}/{name}-target.npy', t)
    r = random.standard_normal(ELEMENTS, dtype=np.float32)
    t = r + np.float32(1e-5) * random.standard_normal(ELEMENTS, dtype=np.float32)
    np.save(f'{folder}/layer-reference.npy', r)
    np.save(f'{folder}/layer-target.npy', t)

# The documented lambdas, word for word.
cross_entropy = lambda r, t: torch.nn.CrossEntropyLoss()(r, t.softmax(dim=1).to(dtype=torch.float32))
prob_mean = lambda r, t: torch.mean((r.softmax(dim=1).to(dtype=torch.float32) / t.softmax(dim=1).to(dtype=torch.float32)) - 1.0)
prob_std = lambda r, t: torch.std(r.softmax(dim=1).to(dtype=torch.float32) / t.softmax(dim=1).to(dtype=torch.float32))
diff_mean = lambda r, t: torch.mean(torch.abs(r.softmax(dim=1).to(dtype=torch.float32) - t.softmax(dim=1).to(dtype=torch.float32)))
LAMBDAS = (cross_entropy, prob_mean, prob_std, diff_mean)

def largest(metric):
    def of(r, t):
        ids = r.topk(TOP, dim=1).indices
        return metric(r.gather(1, ids), t.gather(1, ids))
    return of

def documented(r, t):
    return [[metric(r[i:i + 1], t[i:i + 1]).item() for i in range(len(r))] for metric in (*LAMBDAS, *map(largest, LAMBDAS))]

def eager_row(r, t):
    p, q = r.softmax(1), t.softmax(1)
    ratio = p / q
    mean = ratio.mean()
    ce = torch.logsumexp(r, 1) - (q * r).sum()
    std = (ratio - mean).square_().sum().div_(ratio.numel() - 1).sqrt_()
    return [ce.item(), mean.item() - 1, std.item(), (p - q).abs_().mean().item()]

def eager(r, t):
    out = []
    for i in range(len(r)):
        a, b = r[i:i + 1], t[i:i + 1]
        ids = a.topk(TOP, dim=1).indices
        out.append(eager_row(a, b) + eager_row(a.gather(1, ids), b.gather(1, ids)))
    return [list(column) for column in zip(*out)]

def blocked(r, t, block=262144):
    total = np.zeros(5); most = mostRelative = 0.0; nan = 0
    for i in range(0, r.numel(), block):
        a, b = r[i:i + block], t[i:i + block]
        d = b - a; e = d.abs()
        total += (e.sum().item(), torch.dot(d, d).item(), torch.dot(a, a).item(), torch.dot(b, b).item(), torch.dot(a, b).item())
        most = max(most, e.max().item()); mostRelative = max(mostRelative, (e / a.abs()).max().item())
        nan += torch.isnan(a).sum().item() + torch.isnan(b).sum().item() + torch.isinf(a).sum().item() + torch.isinf(b).sum().item()
    n = r.numel()
    return dict(mean=total[0] / n, max=most, rmse=(total[1] / n) ** 0.5, cosine=total[4] / (total[2] * total[3]) ** 0.5)

def pair(name):
    return [torch.from_numpy(np.load(f'{folder}/{name}-{side}.npy')) for side in ('reference', 'target')]

def float64_logits(name):
    r, t = (x.double() for x in pair(name))
    lp, lq = r.log_softmax(1), t.log_softmax(1)
    ratio = torch.expm1(lp - lq)
    q = lq.exp()
    return dict(crossEntropy=(-(q * lp).sum(1)).tolist(), kl=((q * (lq - lp)).sum(1)).tolist(), probMean=ratio.mean(1).tolist(),
                probStd=ratio.std(1).tolist(), diffMean=((q * ratio).abs().mean(1)).tolist())

def float64_layer(r, t):
    total = np.zeros(5); most = 0.0
    for i in range(0, len(r), 1 << 20):
        a, b = r[i:i + (1 << 20)].astype(np.float64), t[i:i + (1 << 20)].astype(np.float64)
        d = b - a; e = np.abs(d); most = max(most, float(e.max()))
        total += (e.sum(), d @ d, a @ a, b @ b, d @ a)
    s, dd, aa, bb, da = map(float, total); n = len(r)
    x, y = aa ** 0.5, bb ** 0.5
    growth = (2 * da + dd) / (x + y)
    return dict(mean=s / n, max=most, rmse=(dd / n) ** 0.5, oneMinusCosine=(dd - growth * growth) / (2 * x * y))

class Peer:
    def load(self):
        at = lambda name: torch.from_numpy(np.load(f'{folder}/{name}.npy'))
        self.logits = at('logits-reference'), at('logits-target')
        self.layer = at('layer-reference'), at('layer-target')

    def run(self, what):
        if what == 'documented': return documented(*self.logits)
        if what.startswith('documented '): return documented(*pair(what[11:]))
        if what == 'eager': return eager(*self.logits)
        if what == 'blocked': return blocked(*self.layer)
        if what == 'read logits': return [x.amax().item() for x in self.logits]
        if what == 'read layer': return [x.amax().item() for x in self.layer]
        if what == 'quantile':
            r, t = (x[:10_000_000].numpy() for x in self.layer)
            return float(np.quantile(np.abs(t - r), 0.99))
        raise ValueError(what)

peer = Peer()
for line in sys.stdin:
    order = json.loads(line)
    what = order['what']
    torch.set_num_threads(order.get('threads', 1))
    cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    start = time.perf_counter()
    if what == 'make': found = make()
    elif what == 'load': found = peer.load()
    elif what == 'versions': found = f'torch {torch.__version__}, NumPy {np.__version__}'
    elif what == 'float64 layer': found = float64_layer(*(x.numpy() for x in peer.layer))
    elif what.startswith('float64 '): found = float64_logits(what[8:])
    else: found = peer.run(what)
    ms = (time.perf_counter() - start) * 1e3
    cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - cpu
    # JSON has no NaN and no infinity; the documented lambdas have, for wide logits.
    print(json.dumps(dict(ms=ms, cpuMs=cpu * 1e3, found=found)).replace('NaN', 'null').replace('Infinity', 'null'), flush=True)
