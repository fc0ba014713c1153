import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CreatedWorkerCredential } from '../../../contract/credentials.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { checkCommand, isLoopback, joinCommand, natsOf, startCommand, type WorkerSetup } from './join-command.ts';
import { JoinWait } from './join-wait.tsx';

export interface MadeCredentialProps {
  created: CreatedWorkerCredential;
  behind: WorkerSetup;
  onClose: () => void;
}

/** Shows a new credential once, with the command that starts its worker, until the worker has joined. */
export function MadeCredential({ created, behind, onClose }: MadeCredentialProps) {
  const { credential, text, command } = created;
  const [nats, setNats] = useState(natsOf(command));
  const file = `${credential.name}.creds`;
  const start = { command, behind, nats };
  return (
    <Stack gap="sm">
      <TextInput
        label="Address of NATS"
        description={
          isLoopback(nats)
            ? 'This is an address of the router’s own machine. For another machine, give one that leads here from there.'
            : 'As that machine reaches it; this is how the router does. The machine needs no open port of its own.'
        }
        value={nats}
        onChange={({ currentTarget }) => setNats(currentTarget.value.trim())}
      />
      <Text size="sm">
        Run this on that machine, in the folder of Model Router. It holds the credential, a secret that is shown only
        this once.
      </Text>
      <CodeBlock code={joinCommand(start, { name: file, text })} label="the whole command" wrap />
      <JoinWait owner={credential.name} check={checkCommand(start, credential.tier)} />
      <details>
        <summary>
          <Text span size="sm">
            The file and the command apart
          </Text>
        </summary>
        <Stack gap="sm" mt="sm">
          <Group>
            <Button
              component="a"
              href={`data:application/octet-stream,${encodeURIComponent(text)}`}
              download={file}
              variant="default"
              leftSection={<Icon name="download" size={16} />}
            >
              {file}
            </Button>
          </Group>
          <CodeBlock code={startCommand(start)} label="the command" wrap />
          <Text size="sm">The content of the file, to copy instead:</Text>
          <CodeBlock code={text.trimEnd()} label="the credential" wrap />
        </Stack>
      </details>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
