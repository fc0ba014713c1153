import { Badge, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { formatCount, formatDuration } from '../../parts/format.ts';
import { Failure } from '../../parts/failure.tsx';
import { tierNames } from '../../parts/tier-mark.tsx';
import type { AssistantTurn, Served, ToolCall, Turn, UserTurn } from '../../formats/conversation.ts';
import { Prose } from './prose.tsx';
import { ToolCallView } from './tool-call-view.tsx';

export interface TurnViewProps {
  turn: Turn;
  isLast: boolean;
  /** Names of the tools that this router can run. */
  runnable: ReadonlySet<string>;
  onAgain: () => void;
  onResult: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
}

/** One turn of the conversation. */
export function TurnView({ turn, ...props }: TurnViewProps) {
  return turn.role === 'user' ? <Said turn={turn} /> : <Answer turn={turn} {...props} />;
}

function Said({ turn: { text, images } }: { turn: UserTurn }) {
  return (
    <article className="panel said" aria-label="You">
      <Text size="xs" c="dimmed">
        You
      </Text>
      <Text size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
      <Group gap="xs" mt={images.length > 0 ? 'xs' : 0}>
        {images.map((url, index) => (
          // oxlint-disable-next-line no-array-index-key -- images of a turn never change
          <img key={index} src={url} alt={`Attachment ${index + 1}`} className="attachment" />
        ))}
      </Group>
    </article>
  );
}

function Answer({ turn, isLast, runnable, onAgain, onResult }: Omit<TurnViewProps, 'turn'> & { turn: AssistantTurn }) {
  const { text, thinking, toolCalls, state, error, isCut, served } = turn;
  const isOver = state !== 'waiting' && state !== 'streaming';
  return (
    <article className="panel" aria-label="Model" aria-busy={!isOver}>
      <Stack gap="xs">
        <Group gap="xs" justify="space-between">
          <Text size="xs" c="dimmed">
            {served.model ?? 'Model'}
          </Text>
          {isOver ? null : <Loader size="xs" type="dots" aria-label="The model is answering" />}
        </Group>
        {thinking === '' ? null : (
          <details open={text === '' && !isOver}>
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
            // oxlint-disable-next-line no-array-index-key -- calls only ever come at the end
            key={index}
            call={call}
            canAnswer={isLast && isOver && state !== 'failed'}
            isRunnable={runnable.has(call.name)}
            onResult={onResult}
          />
        ))}
        {state === 'stopped' ? (
          <Text size="sm" c="dimmed">
            You stopped the answer.
          </Text>
        ) : null}
        {error === undefined ? null : (
          <Failure title="The answer failed" error={new Error(error)} onRetry={isLast ? onAgain : undefined} />
        )}
        {isCut ? (
          <Text size="sm" c="dimmed">
            The answer was cut off at the longest allowed length.
          </Text>
        ) : null}
        {isOver ? <Facts served={served} /> : null}
        {isOver && isLast && state === 'stopped' ? (
          <Group>
            <Button size="xs" variant="default" onClick={onAgain}>
              Ask again
            </Button>
          </Group>
        ) : null}
      </Stack>
    </article>
  );
}

/** Who answered, how fast, and with how many tokens. */
function Facts({ served }: { served: Served }) {
  const { tier, worker, attempts, queueMs, firstTokenMs, totalMs, promptTokens, completionTokens } = served;
  const facts = [
    worker === undefined ? undefined : `worker ${worker}`,
    queueMs === undefined ? undefined : `queue ${formatDuration(Number(queueMs))}`,
    firstTokenMs === undefined ? undefined : `first token ${formatDuration(firstTokenMs)}`,
    totalMs === undefined ? undefined : `total ${formatDuration(totalMs)}`,
    promptTokens === undefined ? undefined : `${formatCount(promptTokens)} tokens in`,
    completionTokens === undefined ? undefined : `${formatCount(completionTokens)} out`,
    attempts === undefined || attempts === '1' ? undefined : `${attempts} attempts`,
  ].filter((fact) => fact !== undefined);
  return (
    <Group gap="xs">
      {tier === undefined ? null : (
        <Badge variant="default">
          {Object.hasOwn(tierNames, tier) ? tierNames[tier as keyof typeof tierNames] : tier}
        </Badge>
      )}
      <Text size="xs" c="dimmed" className="break">
        {facts.join(' · ')}
      </Text>
    </Group>
  );
}
