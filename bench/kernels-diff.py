# The same metrics as bench/kernels-diff.mjs with NumPy: python3 bench/kernels-diff.py reference target
import json, sys
import numpy as np

r, t = (np.load(path) for path in sys.argv[1:3])
d = t - r
e = np.abs(d)
s = e[r != 0] / np.abs(r[r != 0])
square = lambda x: float(np.dot(x, x))
found = dict(
    max_abs=float(e.max()), mean_abs=float(e.mean(dtype=np.float64)), median_abs=float(np.median(e)), p99_abs=float(np.quantile(e, 0.99)),
    max_rel=float(s.max()), mean_rel=float(s.mean(dtype=np.float64)), median_rel=float(np.median(s)), p99_rel=float(np.quantile(s, 0.99)),
    rmse=(square(d) / d.size) ** 0.5, rel_l2=(square(d) / square(r)) ** 0.5, cosine=float(np.dot(r, t)) / (square(r) * square(t)) ** 0.5,
    nan=int(np.isnan(r).sum() + np.isnan(t).sum()), inf=int(np.isinf(r).sum() + np.isinf(t).sum()),
    over=int((e > 1e-3 * np.abs(r) + 1e-4 * np.abs(r).max()).sum()))
rss = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')) / 1024
print(json.dumps(dict(maxRssMb=rss, metrics=found)))
