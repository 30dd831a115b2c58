// Between the fields of a form and the row a model is asked with.
import type { SignatureInput } from '../../lib/types-models';

export type Typed = Readonly<Record<string, string>>;

// What a field shows for a value: nothing when it is missing.
export function shownValue(input: SignatureInput, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (input.type === 'boolean') return /^(true|yes|1|y)$/i.test(String(value)) ? 'true' : 'false';
  // Times are microseconds since 1970, or already text.
  if (input.type === 'time' && Number.isFinite(Number(value))) {
    const text = new Date(Number(value) / 1000).toISOString();
    return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19) + 'Z';
  }
  // 27.4, not 27.400000000000002.
  return typeof value === 'number' ? String(Number(value.toPrecision(12))) : String(value);
}
export const exampleRow = (inputs: readonly SignatureInput[]): Typed => Object.fromEntries(inputs.map((input) => [input.name, shownValue(input, input.example)]));

// What is sent: numbers as numbers, an empty field as missing. What cannot be read goes as it is; the box warns.
export function toRow(inputs: readonly SignatureInput[], typed: Typed): Record<string, unknown> {
  const value = (input: SignatureInput): unknown => {
    const text = (typed[input.name] ?? '').trim();
    if (text === '') return null;
    if (input.type === 'boolean') return text === 'true';
    if (input.type !== 'real' && input.type !== 'integer') return text;
    const number = Number(text.replace(/(\d),(\d)/, '$1.$2'));
    return Number.isFinite(number) ? number : text;
  };
  return Object.fromEntries(inputs.map((input) => [input.name, value(input)]));
}

// --- The same question from a terminal or a program.
export function curlText(origin: string, model: string, row: Record<string, unknown>): string {
  const body = JSON.stringify({ rows: [row], reasons: true }).replaceAll("'", "'\\''");
  return `curl --cacert samovar-ca.crt ${origin}/api/v1/models/${encodeURIComponent(model)}:predict \\\n  -H "Authorization: Bearer $SAMOVAR_TOKEN" -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}
const python = (value: unknown): string => (value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : JSON.stringify(value));
export function pythonText(origin: string, model: string, row: Record<string, unknown>): string {
  const cells = Object.entries(row).map(([name, value]) => `    ${JSON.stringify(name)}: ${python(value)},`);
  return `import json, os, ssl, urllib.request

row = {
${cells.join('\n')}
}
request = urllib.request.Request(
    "${origin}/api/v1/models/${encodeURIComponent(model)}:predict",
    data=json.dumps({"rows": [row], "reasons": True}).encode(),
    headers={"Authorization": "Bearer " + os.environ["SAMOVAR_TOKEN"], "Content-Type": "application/json"},
)
context = ssl.create_default_context(cafile="samovar-ca.crt")
with urllib.request.urlopen(request, context=context) as answer:
    print(json.load(answer)["predictions"][0])`;
}
