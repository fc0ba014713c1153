import { ActionIcon, Tooltip } from '@mantine/core';
import { useContext, useEffect, useState } from 'react';
import { copyText } from './copy-text.ts';
import { Icon } from './icon.tsx';
import { CopyContext } from './secret-modal.tsx';

/** Milliseconds for which a button shows whether copying worked. */
const outcomeShownMs = 2_000;

const outcomes = {
  copied: { words: 'Copied', icon: 'check', color: 'green' },
  refused: { words: 'The browser does not let pages copy: select the text', icon: 'close', color: 'red' },
} as const;

/** A button that copies a text and shows whether that worked. */
export function Copy({ value, label }: { value: string; label: string }) {
  const [outcome, setOutcome] = useState<keyof typeof outcomes>();
  const onCopy = useContext(CopyContext);
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = window.setTimeout(() => setOutcome(undefined), outcomeShownMs);
    return () => window.clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(value);
    setOutcome(isCopied ? 'copied' : 'refused');
    if (isCopied) onCopy();
  };
  const { words, icon, color } = outcome ? outcomes[outcome] : ({ words: label, icon: 'copy', color: 'gray' } as const);
  return (
    <Tooltip label={words}>
      <ActionIcon variant="subtle" color={color} aria-label={words} onClick={() => void copy()}>
        <Icon name={icon} size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

export function CodeBlock({ code, label, wrap = false }: { code: string; label: string; wrap?: boolean }) {
  return (
    <div className="code-place">
      <pre className={wrap ? 'code code-wrap' : 'code'} tabIndex={0} role="group" aria-label={label}>
        {code}
      </pre>
      <div className="code-copy">
        <Copy value={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
