import { Text } from '@mantine/core';
import { diffLines, collapseEqualLines, type DiffLine } from './diff-lines.ts';

const signs = { same: ' ', added: '+', removed: '−' } as const;

export function LineDiff({ earlier, later, label }: { earlier: string; later: string; label: string }) {
  const diff = diffLines(earlier, later);
  if (!diff.some(({ kind }) => kind !== 'same')) return <Text size="sm">Nothing differs.</Text>;
  return (
    <pre className="code diff" tabIndex={0} role="group" aria-label={label}>
      {collapseEqualLines(diff).map((part, partIndex) =>
        'lines' in part ? (
          part.lines.map((line, index) => <Line key={`${partIndex}.${index}`} line={line} />)
        ) : (
          <div key={partIndex} className="diff-left-out">
            {part.leftOut === 1 ? '1 equal line' : `${part.leftOut} equal lines`}
          </div>
        ),
      )}
    </pre>
  );
}

function Line({ line: { kind, text } }: { line: DiffLine }) {
  return <div className={`diff-${kind}`}>{`${signs[kind]} ${text}`}</div>;
}
