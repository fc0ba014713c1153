import { Select } from '@mantine/core';
import type { OwnerChoice, OwnerGroup } from './use-owner.ts';

/** Names that are shown at once: there may be thousands, and what is typed finds the others. */
const shownNames = 100;

export interface OwnerSelectProps {
  choice: OwnerChoice;
  /** Choices besides those. */
  further?: readonly OwnerGroup[];
}

/** Chooses whose things a page shows. There is nothing to choose for somebody without a team. */
export function OwnerSelect({ choice, further = [] }: OwnerSelectProps) {
  const { owner, mayChoose, choices, choose, onOpen } = choice;
  if (!mayChoose) return null;
  return (
    <Select
      label="Owner"
      maw="24rem"
      searchable
      limit={shownNames}
      allowDeselect={false}
      nothingFoundMessage="Nobody of this name"
      data={[...choices, ...further]}
      value={owner}
      onDropdownOpen={onOpen}
      onChange={(chosen) => chosen !== null && choose(chosen)}
    />
  );
}
