import { Select } from '@mantine/core';
import type { OwnerChoice, OwnerGroup } from './use-owner.ts';

/** The maximum number of names shown at once. There may be thousands; typing finds the other names. */
const maxShownNames = 100;

export interface OwnerSelectProps {
  choice: OwnerChoice;
  /** Choices in addition to the choices of `choice`. */
  furtherChoices?: readonly OwnerGroup[];
}

/** A field to choose the owner of the data on a page. Renders nothing for a person who has no choice. */
export function OwnerSelect({ choice, furtherChoices = [] }: OwnerSelectProps) {
  const { owner, mayChoose, choices, choose, onOpen } = choice;
  if (!mayChoose) return null;
  return (
    <Select
      label="Owner"
      maw="24rem"
      searchable
      limit={maxShownNames}
      allowDeselect={false}
      nothingFoundMessage="Nobody of this name"
      data={[...choices, ...furtherChoices]}
      value={owner}
      onDropdownOpen={onOpen}
      onChange={(chosen) => chosen !== null && choose(chosen)}
    />
  );
}
