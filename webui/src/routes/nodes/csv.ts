// The values of the charts as a file: a row per moment; of several nodes, a row per node and moment.
import { download } from '../../lib/download';
import { t } from '../../lib/messages';
import { toCsv, type Series } from '../../lib/series';
import { toast } from '../../lib/stores';

export type Named = { name: string; series: Series };

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function allCsv(list: readonly Named[]): string {
  if (list.length === 1) return toCsv(list[0]!.series);
  const rows = list.flatMap(({ name, series }, n) => {
    const [head, ...lines] = toCsv(series).trimEnd().split('\r\n');
    return [...(n === 0 ? [`node,${head}`] : []), ...lines.map((line) => `${cell(name)},${line}`)];
  });
  return `${rows.join('\r\n')}\r\n`;
}

export function saveCsv(name: string, list: readonly Named[]): void {
  download(name, new Blob([allCsv(list)], { type: 'text/csv' }));
  toast(t('range.csv_done', { name }), { tone: 'ok' });
}
