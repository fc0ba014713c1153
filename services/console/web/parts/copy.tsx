import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { Icon } from './icon.tsx';

/** A button that copies a text and confirms it. */
export function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'green' : 'gray'}
            aria-label={copied ? 'Copied' : label}
            onClick={copy}
          >
            <Icon name={copied ? 'check' : 'copy'} size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** Code with a copy button. */
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
