import { Group, Loader, Stack, Text } from '@mantine/core';
import { Failure } from '../../parts/failure.tsx';
import type { AssistantTurn, ToolCall } from '../../formats/conversation.ts';
import { AnswerFacts } from './answer-facts.tsx';
import { Prose } from './prose.tsx';
import { Retry } from './retry.tsx';
import { ToolCallView } from './tool-call-view.tsx';

export interface AnswerViewProps {
  turn: AssistantTurn;
  isLast: boolean;
  models: readonly string[];
  runnableTools: ReadonlySet<string>;
  onAnswerAgain: (model?: string) => void;
  onResult: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
}

export function AnswerView({ turn, isLast, models, runnableTools, onAnswerAgain, onResult }: AnswerViewProps) {
  const { text, thinking, toolCalls, state, error, isCut, served } = turn;
  const hasEnded = state !== 'waiting' && state !== 'streaming';
  return (
    <article className="panel" aria-label="Model" aria-busy={!hasEnded}>
      <Stack gap="xs">
        <Group gap="xs" justify="space-between">
          <Text size="xs" c="dimmed" className="break">
            {served.model ?? 'Model'}
          </Text>
          {hasEnded ? null : <Loader size="xs" type="dots" aria-label="The model is answering" />}
        </Group>
        {thinking === '' ? null : (
          <details open={text === '' && !hasEnded}>
            <summary>
              <Text span size="sm" c="dimmed">
                Thinking
              </Text>
            </summary>
            <Text size="sm" c="dimmed" className="break" style={{ whiteSpace: 'pre-wrap' }} mt={4}>
              {thinking}
            </Text>
          </details>
        )}
        {text === '' ? null : <Prose text={text} />}
        {toolCalls.map((call, index) => (
          <ToolCallView
            // oxlint-disable-next-line no-array-index-key -- new calls are only added at the end
            key={index}
            call={call}
            canAnswer={isLast && state === 'done'}
            isRunnable={runnableTools.has(call.name)}
            onResult={onResult}
          />
        ))}
        {state === 'stopped' ? (
          <Text size="sm" c="dimmed">
            You stopped the answer.
          </Text>
        ) : null}
        {error === undefined ? null : (
          <Failure
            title="The answer failed"
            error={new Error(error)}
            onRetry={isLast ? () => onAnswerAgain() : undefined}
          />
        )}
        {isCut ? (
          <Text size="sm" c="dimmed">
            The answer was cut off at the longest allowed length.
          </Text>
        ) : null}
        {hasEnded ? <AnswerFacts facts={served} /> : null}
        {hasEnded && isLast ? <Retry models={models} onAnswerAgain={onAnswerAgain} /> : null}
      </Stack>
    </article>
  );
}
