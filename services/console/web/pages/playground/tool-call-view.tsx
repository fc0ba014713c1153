import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../parts/failure.tsx';
import { runTool } from '../tools/run-tool.ts';
import type { ToolCall } from '../../formats/conversation.ts';

export interface ToolCallViewProps {
  call: ToolCall;
  canAnswer: boolean;
  isRunnable: boolean;
  onResult: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
}

/** Shows a model's tool call. The person can let the router run the tool, or can write the result. */
export function ToolCallView({ call, canAnswer, isRunnable, onResult }: ToolCallViewProps) {
  const [typedResult, setTypedResult] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error>();
  const { name, input, result } = call;
  const run = async (): Promise<void> => {
    setRunning(true);
    setError(undefined);
    try {
      const { text, isError } = await runTool(name, JSON.parse(input === '' ? '{}' : input));
      onResult(call, { text, isError });
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setRunning(false);
    }
  };
  return (
    <Stack gap="xs" className="tool-call">
      <Text size="sm">
        Calls the tool <strong>{name}</strong>
      </Text>
      <pre className="code code-wrap" tabIndex={0} role="group" aria-label={`Input of ${name}`}>
        {indentJson(input)}
      </pre>
      {result === undefined ? null : (
        <pre className="code code-wrap" tabIndex={0} role="group" aria-label={`Result of ${name}`}>
          {result.text}
        </pre>
      )}
      {result === undefined && canAnswer ? (
        <>
          {isRunnable ? (
            <Group>
              <Button size="xs" loading={isRunning} onClick={() => void run()}>
                Run {name}
              </Button>
            </Group>
          ) : null}
          {error ? <Failure title="The tool was not run" error={error} onRetry={() => void run()} /> : null}
          <Group align="flex-end" gap="xs">
            <Textarea
              style={{ flexGrow: 1 }}
              label={isRunnable ? 'Or write the result yourself' : 'No worker has this tool. Write the result yourself'}
              value={typedResult}
              autosize
              maxRows={8}
              onChange={({ currentTarget }) => setTypedResult(currentTarget.value)}
            />
            <Button
              size="sm"
              variant="default"
              disabled={typedResult === ''}
              onClick={() => onResult(call, { text: typedResult, isError: false })}
            >
              Send result
            </Button>
          </Group>
        </>
      ) : null}
    </Stack>
  );
}

/** Indents JSON; leaves incomplete JSON unchanged. */
function indentJson(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return input;
    throw error;
  }
}
