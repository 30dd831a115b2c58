#!/usr/bin/python3
"""The peer of bench glm: pandas.read_csv, vectorised hashing to 2^20 places, scikit-learn's SGDClassifier, five
passes. glm_peer.py FILE.tsv: trains on the first nine tenths, tests on the last; prints one line of JSON with
processor seconds and the AUC of the test rows."""
import json
import sys
import time

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

BITS = 20
path = sys.argv[1]
names = ["y"] + ["I%d" % i for i in range(1, 14)] + ["C%d" % i for i in range(1, 27)]
types = {**{n: "float32" for n in names[1:14]}, **{n: "category" for n in names[14:]}, "y": "int8"}
begin = time.process_time()
ids, labels = [], []
for frame in pd.read_csv(path, sep="\t", header=None, names=names, chunksize=200000, dtype=types):
    places = np.empty((len(frame), 39), np.int32)
    for j, name in enumerate(names[1:]):
        if j < 13:
            v = frame[name].to_numpy()
            octave = np.floor(np.log2(np.maximum(v, 0) + 1) * 2)
            bucket = np.where(np.isnan(v), -1, np.where(v < 0, 99, octave)).astype(np.int64) + 2
            hashes = pd.util.hash_array(bucket + j * 1000, categorize=False)
        else:
            column = frame[name].cat
            levels = pd.util.hash_array(column.categories.to_numpy(dtype=object), hash_key="%016d" % j, categorize=False)
            missing = np.uint64(7919 * (j + 1) * 2654435761)
            hashes = np.where(column.codes < 0, missing, levels[column.codes] if len(levels) else 0)
        places[:, j] = (hashes >> np.uint64(20)).astype(np.int64) & ((1 << BITS) - 1)
    ids.append(places)
    labels.append(frame["y"].to_numpy())
ids, y = np.concatenate(ids), np.concatenate(labels)
x = sp.csr_matrix((np.ones(ids.size), ids.ravel(), np.arange(0, ids.size + 1, 39, dtype=np.int32)), shape=(len(y), 1 << BITS))
parsed = time.process_time()
roles = np.where(np.arange(len(y)) < len(y) * 9 // 10, 0, 2)
train, test = x[roles == 0], x[roles == 2]
begin_fit = time.process_time()
model = SGDClassifier(loss="log_loss", alpha=6e-5, max_iter=5, tol=None, random_state=1).fit(train, y[roles == 0])
fitted = time.process_time()
begin_score = time.process_time()
scores = model.decision_function(test)
scored = time.process_time()
auc = roc_auc_score(y[roles == 2], scores)
print(json.dumps({
    "parse": parsed - begin, "fit": fitted - begin_fit, "score": scored - begin_score, "all": time.process_time() - begin,
    "train_rows": int((roles == 0).sum()), "test_rows": int((roles == 2).sum()), "auc": float(auc)}))
