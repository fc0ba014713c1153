import { Alert, Anchor, Code, Stack, Text } from '@mantine/core';
import type { RegistryProblem } from '../../../../contract/registry.ts';

export interface RegistryProblemsProps {
  problems: readonly RegistryProblem[];
  text: string;
  onShow: (line: number) => void;
}

export function RegistryProblems({ problems, text, onShow }: RegistryProblemsProps) {
  const lines = text.split('\n');
  return (
    <Alert
      color="red"
      variant="outline"
      title={problems.length === 1 ? 'One problem' : `${problems.length} problems`}
      role="alert"
      styles={{ title: { color: 'var(--mantine-color-error)' } }}
    >
      <Stack component="ul" gap="xs" className="plain-list">
        {problems.map(({ line, field, message }) => (
          <li key={`${line} ${field} ${message}`}>
            <Text size="sm" className="break">
              {line === undefined ? null : (
                <Anchor component="button" type="button" onClick={() => onShow(line)}>
                  Line {line}
                </Anchor>
              )}
              {line === undefined ? '' : ': '}
              {field === undefined ? null : <b>{field}: </b>}
              {message}
            </Text>
            {line === undefined ? null : <Code>{lines[line - 1]?.trim()}</Code>}
          </li>
        ))}
      </Stack>
    </Alert>
  );
}
