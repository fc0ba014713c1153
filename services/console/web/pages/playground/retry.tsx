import { Button, Group, Select } from '@mantine/core';

export interface RetryProps {
  models: readonly string[];
  /** @param model default: the model that answered */
  onAnswerAgain: (model?: string) => void;
}

/** Lets the person replace the last answer with a new answer of a chosen model. The conversation then continues with this model. */
export function Retry({ models, onAnswerAgain }: RetryProps) {
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => onAnswerAgain()}>
        Retry
      </Button>
      {models.length > 1 ? (
        <Select
          size="xs"
          w="13rem"
          aria-label="Retry with another model"
          placeholder="Retry with…"
          data={models}
          value={null}
          searchable
          limit={200}
          onChange={(model) => {
            if (model !== null) onAnswerAgain(model);
          }}
        />
      ) : null}
    </Group>
  );
}
