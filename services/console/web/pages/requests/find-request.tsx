import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';

export function FindRequest() {
  const [, go] = useLocation();
  const [id, setId] = useState('');
  const trimmedId = id.trim();
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (trimmedId !== '') go(`/requests/${encodeURIComponent(trimmedId)}`);
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          aria-label="Request id"
          placeholder="Request id, such as req_…"
          autoComplete="off"
          spellCheck={false}
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Find
        </Button>
      </Group>
    </form>
  );
}
