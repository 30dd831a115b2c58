// Files get in by a drop anywhere on the page, or by the button: the same for everybody who cannot drag.
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../lib/messages';
import { addFiles } from '../../lib/uploads';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import css from './datasets.module.css';

const hasFiles = (event: DragEvent): boolean => !!event.dataTransfer?.types.includes('Files');

// Only while files hang over the page.
export function DropZone() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    // Entering a child is announced before leaving its parent, so count.
    let depth = 0;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hover = (event: DragEvent): void => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void addFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const pairs = [
      ['dragenter', enter],
      ['dragleave', leave],
      ['dragover', hover],
      ['drop', drop],
    ] as const;
    for (const [kind, act] of pairs) addEventListener(kind, act);
    return () => {
      for (const [kind, act] of pairs) removeEventListener(kind, act);
    };
  }, []);
  if (!over) return null;
  return (
    <div class={css.drop}>
      <div>
        <Icon name="upload" size={40} />
        <p>{t('upload.drop')}</p>
      </div>
    </div>
  );
}

interface ChooseProps {
  label: string;
  describe?: string;
  onFiles: (files: File[]) => void;
  several?: boolean;
  primary?: boolean;
  small?: boolean;
}

export function ChooseFile({ label, describe, onFiles, several, primary, small }: ChooseProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        class={css.file}
        type="file"
        multiple={several}
        tabIndex={-1}
        aria-hidden="true"
        onChange={(event) => {
          const field = event.currentTarget;
          onFiles([...(field.files ?? [])]);
          // The same file may be chosen again.
          field.value = '';
        }}
      />
      <Button variant={primary ? 'primary' : 'secondary'} small={small} icon="upload" aria-label={describe} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  );
}
