// What the form holds, and what the box is asked for: only what differs from its defaults, so that the call one may
// copy stays short.
import type { ProfileColumn, SchemaColumn } from '../../lib/types-data';
import type { DeviceChoice, JobSpec, ParameterSchema, PowerMode, SplitKind } from '../../lib/types-models';

export interface Draft {
  dataset: string;
  version: number; // 0: the newest
  kind: string;
  target: string;
  name: string;
  named: boolean; // the person chose the name
  left: ReadonlySet<string>; // columns that are no inputs
  split: SplitKind;
  splitColumn: string;
  valid: number;
  test: number;
  folds: number;
  roles: Readonly<Record<Role, string>>;
  features: Readonly<Record<string, unknown>>;
  parameters: Readonly<Record<string, unknown>>;
  strategy: Readonly<Record<string, unknown>>;
  nodesMin: string;
  nodesMax: string;
  onLost: OnLost;
  priority: Priority;
  powerMode: PowerMode;
  device: DeviceChoice;
  watts: string;
  finishBy: string;
  seed: string;
}
export const onLost = ['replace', 'go_on', 'pause'] as const;
export type OnLost = (typeof onLost)[number];
export const priorities = ['low', 'normal', 'high'] as const;
export type Priority = (typeof priorities)[number];
export const roles = ['weight', 'offset', 'exposure'] as const;
export type Role = (typeof roles)[number];

export const emptyDraft = (dataset: string, target: string): Draft => ({
  dataset,
  version: 0,
  kind: 'glm',
  target,
  name: '',
  named: false,
  left: new Set(),
  split: 'random',
  splitColumn: '',
  valid: 0.1,
  test: 0.2,
  folds: 5,
  roles: { weight: '', offset: '', exposure: '' },
  features: {},
  parameters: {},
  strategy: {},
  nodesMin: '',
  nodesMax: '',
  onLost: 'replace',
  priority: 'normal',
  powerMode: 'full',
  device: 'auto',
  watts: '',
  finishBy: '',
  seed: '',
});

// What a target must be; texts and times are not predicted.
const targets = new Set(['boolean', 'category', 'integer', 'real']);
export const canBeTarget = (column: SchemaColumn): boolean => targets.has(column.type);
// What kind of answer a target asks for.
export function goalOf(column: SchemaColumn | undefined): 'binary' | 'classes' | 'number' {
  if (column?.type === 'boolean') return 'binary';
  return column?.type === 'category' ? 'classes' : 'number';
}

// A column whose values are nearly all different names rows and says nothing about new ones. Measurements differ
// too, but they are no names; whole numbers are names when there are as many as rows.
export function isIdentifier(column: ProfileColumn, rows: number): boolean {
  const distinct = column.distinct ?? 0;
  if (rows < 20 || column.type === 'real' || column.type === 'time' || column.type === 'boolean' || column.type === 'sparse') return false;
  const known = rows - column.missing;
  return column.type === 'text' ? false : distinct > (column.type === 'integer' ? 0.98 : 0.8) * known;
}
// A column that names what several rows have in common: a patient, a customer.
export function isGroup(column: ProfileColumn, rows: number): boolean {
  const distinct = column.distinct ?? 0;
  return (column.type === 'category' || column.type === 'integer' || column.type === 'text') && distinct > 0.05 * rows && distinct > 20;
}

// Columns that say something else about the row are no inputs besides.
export const otherwise = (draft: Draft): ReadonlySet<string> => new Set([draft.target, ...Object.values(draft.roles), draft.split === 'random' ? '' : draft.splitColumn]);

const unless = <V>(value: V, usual: V): V | undefined => (value === usual ? undefined : value);
const orNothing = <V extends object>(value: V): V | undefined => (Object.values(value).some((one) => one !== undefined) ? value : undefined);

export function toSpec(draft: Draft, columns: readonly SchemaColumn[]): JobSpec {
  const taken = otherwise(draft);
  const free = columns.map((column) => column.name).filter((name) => !taken.has(name));
  const ignore = free.filter((name) => draft.left.has(name));
  const inputs = free.filter((name) => !draft.left.has(name));
  const few = inputs.length < ignore.length;
  const spec: JobSpec = {
    kind: draft.kind,
    name: draft.name.trim(),
    dataset: draft.dataset,
    target: draft.target,
    dataset_version: draft.version || undefined,
    inputs: few ? inputs : undefined,
    ignore: few || ignore.length === 0 ? undefined : ignore,
    split: orNothing({
      kind: unless(draft.split, 'random'),
      column: draft.split === 'random' ? undefined : draft.splitColumn || undefined,
      valid: unless(draft.valid, 0.1),
      test: draft.split === 'folds' ? undefined : unless(draft.test, 0.2),
      folds: draft.split === 'folds' ? unless(draft.folds, 5) : undefined,
    }),
    features: orNothing({ ...draft.features }),
    parameters: orNothing({ ...draft.parameters }),
    strategy: orNothing({ ...draft.strategy }),
    nodes: orNothing({ min: Number(draft.nodesMin) || undefined, max: Number(draft.nodesMax) || undefined }),
    on_lost_node: unless(draft.onLost, 'replace'),
    priority: unless(draft.priority, 'normal'),
    device: unless(draft.device, 'auto'),
    power: orNothing({ mode: unless(draft.powerMode, 'full'), watts: draft.watts ? Number(draft.watts) : undefined, finish_by: draft.finishBy.trim() || undefined }),
    seed: draft.seed ? Number(draft.seed) : undefined,
  };
  for (const role of roles) if (draft.roles[role]) spec[role] = draft.roles[role];
  return JSON.parse(JSON.stringify(spec)) as JobSpec;
}

// From a spec that ran before, for "try again with…".
export function fromSpec(spec: JobSpec, columns: readonly SchemaColumn[], usual: Readonly<Record<string, unknown>> = {}): Draft {
  const inputs = spec.inputs?.length ? new Set(spec.inputs) : null;
  const ignored = new Set(spec.ignore ?? []);
  const left = columns.map((column) => column.name).filter((name) => ignored.has(name) || (inputs !== null && !inputs.has(name)));
  const given = (value: unknown): boolean => value !== null && value !== undefined && !(typeof value === 'object' && Object.keys(value).length === 0);
  const kept = (all: Record<string, unknown> | undefined): Record<string, unknown> => Object.fromEntries(Object.entries(all ?? {}).filter(([, value]) => given(value)));
  return {
    ...emptyDraft(spec.dataset, spec.target),
    version: spec.dataset_version ?? 0,
    kind: spec.kind,
    name: spec.name,
    named: true,
    left: new Set(left),
    split: spec.split?.kind ?? 'random',
    splitColumn: spec.split?.column ?? '',
    valid: spec.split?.valid ?? 0.1,
    test: spec.split?.test ?? 0.2,
    folds: spec.split?.folds ?? 5,
    roles: { weight: spec.weight ?? '', offset: spec.offset ?? '', exposure: spec.exposure ?? '' },
    features: kept(spec.features),
    parameters: kept(spec.parameters),
    strategy: Object.fromEntries(Object.entries(kept(spec.strategy)).filter(([name, value]) => usual[name] !== value)),
    nodesMin: spec.nodes?.min && spec.nodes.min !== 1 ? String(spec.nodes.min) : '',
    nodesMax: spec.nodes?.max ? String(spec.nodes.max) : '',
    onLost: onLost.find((one) => one === spec.on_lost_node) ?? 'replace',
    powerMode: spec.power?.mode ?? 'full',
    device: spec.device ?? 'auto',
    watts: spec.power?.watts ? String(spec.power.watts) : '',
    // A moment that was asked for is over by now; a time of day comes again.
    finishBy: /^\d\d:\d\d$/.test(spec.power?.finish_by ?? '') ? spec.power!.finish_by! : '',
    seed: spec.seed && spec.seed !== 1 ? String(spec.seed) : '',
  };
}

// What somebody typed for a parameter, in the type its schema names; nothing when it is the default.
export function parameterValue(schema: ParameterSchema, text: string): unknown {
  if (text === '') return undefined;
  const types = [schema.type ?? []].flat();
  if (types.includes('number') || types.includes('integer')) return Number.isFinite(Number(text)) ? Number(text) : text;
  if (!types.includes('object') && !types.includes('array')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the box says what is wrong with it
  }
}

// --- The same job from a terminal or a program.
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const flag = (name: string, value: string | number | undefined | null): string => (value === undefined || value === null || value === '' ? '' : ` \\\n  --${name} ${quote(String(value))}`);
// A comma between names stands for itself only behind a backslash.
const list = (names: readonly string[] | undefined): string => (names ?? []).map((name) => name.replaceAll(',', '\\,')).join(',');
const settings = (values: Record<string, unknown> | undefined, before: string): string =>
  Object.entries(values ?? {})
    .map(([key, value]) => flag('set', `${before}${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
    .join('');

export function asCommand(spec: JobSpec): string {
  const { split = {}, features: { interactions, ...features } = {} } = spec;
  const pairs = Array.isArray(interactions) ? (interactions as string[][]).map((pair) => flag('interaction', list(pair))).join('') : '';
  return [
    `samovar train ${spec.kind} --data ${quote(spec.dataset)} --target ${quote(spec.target)} --name ${quote(spec.name)}`,
    flag('data-version', spec.dataset_version),
    flag('input', list(spec.inputs)),
    flag('ignore', list(spec.ignore)),
    ...roles.map((role) => flag(role, spec[role])),
    split.kind ? flag('split', split.column ? `${split.kind}:${split.column}` : split.kind) : '',
    ...(['valid', 'test', 'folds'] as const).map((name) => flag(name, split[name])),
    pairs,
    settings(spec.parameters, ''),
    settings(features, 'features.'),
    flag('device', spec.device),
    flag('watts', spec.power?.watts),
    flag('finish-by', spec.power?.finish_by),
    spec.power?.mode === 'gentle' ? ' \\\n  --gentle' : '',
    flag('seed', spec.seed),
    ' --wait',
  ].join('');
}
export function asCall(spec: JobSpec, origin: string): string {
  return `curl --cacert samovar-ca.crt ${origin}/api/v1/jobs \\\n  -H "Authorization: Bearer $SAMOVAR_TOKEN" -H 'Content-Type: application/json' \\\n  -d ${quote(JSON.stringify(spec))}`;
}
