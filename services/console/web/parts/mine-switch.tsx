import { Switch } from '@mantine/core';
import { useIsAdmin, useSession } from '../api/session.ts';

export interface MineSwitchProps {
  /** The id of the person to whose data the list is narrowed; undefined: everybody's. */
  user: string | undefined;
  onUser: (user: string | undefined) => void;
}

/** A switch with which administrators narrow a list of everybody's data to their own. Renders nothing for anybody else. */
export function MineSwitch({ user, onUser }: MineSwitchProps) {
  const isAdmin = useIsAdmin();
  const { id } = useSession().user;
  if (!isAdmin) return null;
  return (
    <Switch
      size="xs"
      label="Only mine"
      checked={user === id}
      onChange={({ currentTarget }) => onUser(currentTarget.checked ? id : undefined)}
    />
  );
}
