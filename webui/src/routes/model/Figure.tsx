// A picture with words for those who do not see it, and a switch to the table of what it shows.
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { t } from '../../lib/messages';
import { Button } from '../../ui/Button';
import css from '../models/models.module.css';

interface FigureProps {
  title: string;
  text?: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
  children: ComponentChildren; // the picture
}

export function Figure({ title, text, head, rows, children }: FigureProps) {
  const [asTable, setAsTable] = useState(false);
  const id = useId();
  return (
    <figure class={css.figure} aria-labelledby={id}>
      <div class={css.figureHead}>
        <h2 id={id}>{title}</h2>
        <Button variant="quiet" small icon={asTable ? 'chart' : 'table'} aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {t('chart.table')}
        </Button>
      </div>
      {text && <p class={css.sub}>{text}</p>}
      {asTable ? (
        // A scrolling area must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div class={css.scroll} tabIndex={0} role="region" aria-label={t('chart.table_of', { title })}>
          <table class={css.grid}>
            <caption class="visually-hidden">{title}</caption>
            <thead>
              <tr>
                {head.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>
                  {row.map((value, column) => (
                    <td key={column}>{value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        children
      )}
    </figure>
  );
}
