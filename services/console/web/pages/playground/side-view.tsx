import { Button, Group, Stack, Text } from '@mantine/core';
import type { ConversationControl } from './use-conversation.ts';
import { AnswerView } from './answer-view.tsx';
import { UserTurnView } from './user-turn-view.tsx';

export interface SideViewProps {
  conversation: ConversationControl;
  models: readonly string[];
  runnable: ReadonlySet<string>;
  onEdit: (place: number, text: string) => void;
  onAgain: (model?: string) => void;
  /** The model of this side, if there are two sides; undefined if there is only one. */
  beside: { model: string; onKeep: () => void } | undefined;
}

export function SideView({ conversation, models, runnable, onEdit, onAgain, beside }: SideViewProps) {
  const { turns, answerCall } = conversation;
  return (
    <Stack
      gap="sm"
      role="log"
      aria-label={beside ? `Conversation with ${beside.model}` : 'Conversation'}
      aria-live="off"
    >
      {beside ? (
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={600} className="break">
            {beside.model}
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Keep only this one: ${beside.model}`}
            disabled={conversation.isRunning}
            onClick={beside.onKeep}
          >
            Keep only this one
          </Button>
        </Group>
      ) : null}
      {turns.map((turn, index) =>
        turn.role === 'user' ? (
          // oxlint-disable-next-line no-array-index-key -- turns only ever come at the end
          <UserTurnView key={index} turn={turn} onEdit={(text) => onEdit(index, text)} />
        ) : (
          <AnswerView
            // oxlint-disable-next-line no-array-index-key -- turns only ever come at the end
            key={index}
            turn={turn}
            isLast={index === turns.length - 1}
            models={models}
            runnable={runnable}
            onAgain={onAgain}
            onResult={answerCall}
          />
        ),
      )}
    </Stack>
  );
}
