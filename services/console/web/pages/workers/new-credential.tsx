import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CreatedWorkerCredential } from '../../../contract/credentials.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import {
  createCheckCommand,
  isLoopback,
  createJoinCommand,
  findNats,
  createStartCommand,
  type WorkerSetup,
} from './join-command.ts';
import { JoinWait } from './join-wait.tsx';

export interface NewCredentialProps {
  created: CreatedWorkerCredential;
  setup: WorkerSetup;
  onClose: () => void;
}

/** Shows a new credential once, with the command that starts its worker, until the worker has joined. */
export function NewCredential({ created, setup, onClose }: NewCredentialProps) {
  const { credential, text, command } = created;
  const [nats, setNats] = useState(findNats(command));
  const fileName = `${credential.name}.creds`;
  const start = { command, setup, nats };
  return (
    <Stack gap="sm">
      <TextInput
        label="Address of NATS"
        description={
          isLoopback(nats)
            ? 'This is an address of the router’s own machine. For another machine, enter an address that leads from there to the router.'
            : 'The address at which that machine reaches NATS; this address is the one that the router uses. The machine needs no open port of its own.'
        }
        value={nats}
        onChange={({ currentTarget }) => setNats(currentTarget.value.trim())}
      />
      <Text size="sm">
        Run this on that machine, in the folder of Model Router. The command contains the credential, a secret that is
        shown only this once.
      </Text>
      <CodeBlock code={createJoinCommand(start, { name: fileName, text })} label="the whole command" wrap />
      <JoinWait credentialName={credential.name} checkCommand={createCheckCommand(start, credential.tier)} />
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
              download={fileName}
              variant="default"
              leftSection={<Icon name="download" size={16} />}
            >
              {fileName}
            </Button>
          </Group>
          <CodeBlock code={createStartCommand(start)} label="the command" wrap />
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
