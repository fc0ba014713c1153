import { Button, Group, Stack, Text } from '@mantine/core';
import type { ConversationControl } from './use-conversation.ts';
import { AnswerView } from './answer-view.tsx';
import { UserTurnView } from './user-turn-view.tsx';

export interface SideViewProps {
  conversation: ConversationControl;
  models: readonly string[];
  runnableTools: ReadonlySet<string>;
  onEdit: (turnIndex: number, text: string) => void;
  onAnswerAgain: (model?: string) => void;
  /** The model of this side, if there are two sides to compare; undefined if there is only one side. */
  comparison: { model: string; onKeep: () => void } | undefined;
}

export function SideView({ conversation, models, runnableTools, onEdit, onAnswerAgain, comparison }: SideViewProps) {
  const { turns, answerCall } = conversation;
  return (
    <Stack
      gap="sm"
      role="log"
      aria-label={comparison ? `Conversation with ${comparison.model}` : 'Conversation'}
      aria-live="off"
    >
      {comparison ? (
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={600} className="break">
            {comparison.model}
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Keep only this one: ${comparison.model}`}
            disabled={conversation.isRunning}
            onClick={comparison.onKeep}
          >
            Keep only this one
          </Button>
        </Group>
      ) : null}
      {turns.map((turn, index) =>
        turn.role === 'user' ? (
          // oxlint-disable-next-line no-array-index-key -- new turns are only added at the end
          <UserTurnView key={index} turn={turn} onEdit={(text) => onEdit(index, text)} />
        ) : (
          <AnswerView
            // oxlint-disable-next-line no-array-index-key -- new turns are only added at the end
            key={index}
            turn={turn}
            isLast={index === turns.length - 1}
            models={models}
            runnableTools={runnableTools}
            onAnswerAgain={onAnswerAgain}
            onResult={answerCall}
          />
        ),
      )}
    </Stack>
  );
}
