import { Select } from '@mantine/core';
import type { OwnerChoice, OwnerGroup } from './use-owner.ts';

/** This many names are shown at once. There may be thousands, and typing finds the others. */
const shownNames = 100;

export interface OwnerSelectProps {
  choice: OwnerChoice;
  /** Choices besides those of `choice`. */
  further?: readonly OwnerGroup[];
}

/** Chooses the owner whose data a page shows. Renders nothing for a person who has no other choice. */
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
