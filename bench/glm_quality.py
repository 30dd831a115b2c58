#!/usr/bin/python3
"""Linear models with the defaults against scikit-learn's and, for counts, statsmodels' converged solutions.

glm_quality.py PROGRAM [--quick] [FOLDER]

PROGRAM is bench_train_file. Every set is trained by it and by the peer on the same training rows and judged on the
same test rows: the program numbers its rows by a column of the file and says which role each had and what it answers.
The peer has the same design: numbers standardised, missing ones at the mean with an indicator of their own, yes and no
as 1 and 0, categories one-hot. It is fitted twice: with the penalty that the program chose, which must give the same figures, and with
scikit-learn's own default, for comparison. Log loss for classes, Poisson deviance for counts, RMSE for numbers.

Without FOLDER the data are generated. In FOLDER the sets that public_sets.py names are taken where they are there, and any *.csv
that lies in it, whose last column is the target then. Prints JSON lines and a table; ends with 1 when a figure is
worse than the peer's by more than 0.1 %. --quick takes at most 20,000 rows of a set."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from public_sets import COUNT, sets_of

WORSE_MOST = 0.001
ROW = "row_number"


def generated():
    """Sets of every kind whose law is known, with levels, missing values and unlike scales."""
    luck = np.random.default_rng(1)
    rows = 20000
    frame = pd.DataFrame({
        "x": luck.normal(size=rows),
        "income": np.exp(10 + luck.normal(size=rows)).round(2),
        "age": luck.integers(18, 90, rows),
        "city": luck.choice(["Kyiv", "Lviv", "Odesa", "Poltava"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        "Exposure": luck.integers(1, 13, rows) / 12,
    })
    eta = 0.8 * frame.x - 0.02 * (frame.age - 50) + 0.3 * (np.log(frame.income) - 10) + 0.7 * (frame.city == "Odesa")
    frame.loc[luck.random(rows) < 0.1, "income"] = np.nan
    binary = frame.drop(columns="Exposure").assign(
        answer=np.where(luck.random(rows) < 1 / (1 + np.exp(1 - eta)), "yes", "no"))
    several = frame.drop(columns="Exposure").assign(
        answer=np.array(["low", "middle", "high"])[np.digitize(eta + luck.logistic(size=rows), [-1, 1])])
    number = frame.drop(columns="Exposure").assign(answer=(3 + eta + luck.normal(size=rows)).round(4))
    count = frame.assign(answer=luck.poisson(frame.Exposure * np.exp(eta - 1)))
    return [("generated-binary", binary, "answer", {}), ("generated-classes", several, "answer", {}),
            ("generated-number", number, "answer", {}), ("generated-count", count, "answer", COUNT)]


def ours(program, frame, target, spec, place):
    """What the program says: its evaluation, and its rows in the order of the frame."""
    frame = frame.assign(**{ROW: np.arange(len(frame))})
    frame.to_csv(place / "data.csv", index=False)
    spec = {"target": target, "ignore": [ROW], "row_column": ROW, **spec}
    (place / "spec.json").write_text(json.dumps(spec))
    done = subprocess.run([program, place / "data.csv", place / "spec.json", place / "out"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    told = json.loads((place / "out.json").read_text())
    rows = np.fromfile(place / "out.rows").reshape(told["rows"], -1)
    return told, rows[np.argsort(rows[:, 0], kind="stable")]


def design(frame, types, fitted):
    """Numbers and one-hot levels as they are among the `fitted` rows, with the scales of those; and which columns
    follow from the others: the first level of each category, which only a penalty makes sense of."""
    parts, spare = [], []
    for name in frame.columns:
        column = frame[name]
        kind = types[name]
        if kind in ("real", "integer", "boolean"):
            if column.dtype == object:
                column = column.map({"yes": 1, "no": 0, "true": 1, "false": 0, True: 1, False: 0}.get)
            values = column.to_numpy(float)
            known = values[fitted & ~np.isnan(values)]
            if len(known) == 0 or known.std() == 0:
                continue
            missing = np.isnan(values)
            if missing[fitted].any():
                parts.append(missing.astype(float))
            center, scale = (0, 1) if kind == "boolean" else (known.mean(), known.std())
            parts.append(np.where(missing, 0, (values - center) / scale))
        elif kind == "category":
            text = column.astype(object).where(column.notna(), "")
            spare.append(len(parts))
            for level in sorted(set(text[fitted].map(str))):
                parts.append((text.map(str) == level).to_numpy(float))
        else:
            print("  %s (%s) has no like in the peer's design" % (name, kind), file=sys.stderr)
    return np.column_stack(parts), spare


def judge(task, y, answer):
    if task == "binary":
        p = np.clip(answer, 1e-7, 1 - 1e-7)
        return float(-np.mean(np.where(y > 0.5, np.log(p), np.log1p(-p))))
    if task == "classes":
        return float(-np.mean(np.log(np.maximum(answer[np.arange(len(y)), y.astype(int)], 1e-15))))
    if task == "count":
        logs = np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / answer), 0)
        return float(np.mean(2 * (logs - y + answer)))
    return float(np.sqrt(np.mean((y - answer) ** 2)))


def peer(task, x, spare, y, exposure, train, test, l2):
    """The converged answer for the test rows; l2 is that of the sum of losses, as ours is."""
    if l2 == 0:
        x = np.delete(x, spare, axis=1)
    if task in ("binary", "classes"):
        kind = "newton-cholesky" if task == "binary" else "lbfgs"
        model = LogisticRegression(penalty="l2" if l2 > 0 else None, C=1 / l2 if l2 > 0 else 1, solver=kind, tol=1e-8,
                                   max_iter=200 if task == "binary" else 5000)
        model.fit(x[train], y[train])
        answer = model.predict_proba(x[test])
        return answer[:, 1] if task == "binary" else answer
    if task == "count" and l2 == 0:
        x = sm.add_constant(x)
        model = sm.GLM(y[train], x[train], family=sm.families.Poisson(), offset=np.log(exposure[train]))
        return model.fit(tol=1e-10, maxiter=100).predict(x[test], offset=np.log(exposure[test]))
    if task == "count":
        # A rate weighted with its exposure is the count with log(exposure) as offset.
        model = PoissonRegressor(alpha=l2 / exposure[train].sum(), solver="newton-cholesky", tol=1e-10, max_iter=200)
        model.fit(x[train], y[train] / exposure[train], sample_weight=exposure[train])
        return model.predict(x[test]) * exposure[test]
    model = Ridge(alpha=l2) if l2 > 0 else LinearRegression()
    return model.fit(x[train], y[train]).predict(x[test])


def compare(program, name, frame, target, spec):
    with tempfile.TemporaryDirectory() as place:
        told, rows = ours(program, frame, target, spec, pathlib.Path(place))
    evaluation = told["evaluation"]
    task, l2 = evaluation["task"], evaluation["model"]["l2"]
    kept = frame.iloc[rows[:, 0].astype(int)].reset_index(drop=True)
    exposure = kept["Exposure"].to_numpy(float) if "exposure" in spec else np.ones(len(kept))
    counts = rows[:, 2] > 0
    train, test = (rows[:, 1] == 0) & counts, (rows[:, 1] == 2) & counts
    y = rows[:, 3]
    answer = rows[test, 4:] if task == "classes" else rows[test, 4]
    inputs = kept.drop(columns=[target] + ([spec["exposure"]] if "exposure" in spec else []))
    x, spare = design(inputs, told["schema"], train)
    mine = judge(task, y[test], answer)
    metric = {"binary": "log_loss", "classes": "log_loss", "count": "deviance", "number": "rmse"}[task]
    same = judge(task, y[test], peer(task, x, spare, y, exposure, train, test, l2))
    own = judge(task, y[test], peer(task, x, spare, y, exposure, train, test, 1.0))
    result = {"set": name, "metric": metric, "rows": len(kept), "test_rows": int(test.sum()), "inputs": int(x.shape[1]),
              "solver": evaluation["model"]["solver"], "l2": l2, "ours": mine, "peer": same, "ratio": mine / same,
              "peer_default": own, "ratio_default": mine / own, "told": evaluation["metrics"]["test"][metric]["value"],
              "cpu_seconds": told["cpu_seconds"]}
    print(json.dumps(result), flush=True)
    # Probabilities are floats: one row that is answered with almost 1 can move the mean a little.
    if abs(result["told"] - mine) > WORSE_MOST * abs(mine):
        raise RuntimeError("%s: the program's own figure is %.8g, that of its rows %.8g" % (name, result["told"], mine))
    return result


def main():
    arguments = [a for a in sys.argv[1:] if a != "--quick"]
    quick = "--quick" in sys.argv
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    sets = sets_of(pathlib.Path(arguments[1])) if len(arguments) == 2 else generated()
    results = []
    for name, frame, target, spec in sets:
        if quick and len(frame) > 20000:
            frame = frame.sample(20000, random_state=1).reset_index(drop=True)
        results.append(compare(arguments[0], name, frame.reset_index(drop=True), target, spec))
    print("\n| set | rows | metric | ours | peer, same penalty | ratio | scikit-learn's default | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for r in results:
        print("| %s | %d | %s | %.6f | %.6f | %.5f | %.6f | %.4f |" % (
            r["set"], r["rows"], r["metric"], r["ours"], r["peer"], r["ratio"], r["peer_default"], r["ratio_default"]))
    worse = [r["set"] for r in results if r["ratio"] > 1 + WORSE_MOST]
    if worse:
        sys.exit("worse than the peer by more than 0.1 %: " + ", ".join(worse))


if __name__ == "__main__":
    main()
