import { Button, Group, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { webhookSelections } from '#shared/accounts/webhooks/webhook-event.ts';
import type { Team } from '../../../contract/people.ts';
import type { NewWebhook as NewWebhookInput, Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

const kindNames: Record<Webhook['kind'], string> = {
  user: 'Yourself',
  team: 'A team',
  router: 'The router: keys without an owner',
};

export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<string[]>(['batch.*']);
  const [kind, setKind] = useState<Webhook['kind']>('user');
  const [teamId, setTeamId] = useState<string | null>(null);
  const create = useChange(
    (input: NewWebhookInput) => callApi<{ webhook: Webhook; secret: string }>('POST', '/webhooks', input),
    ['/webhooks'],
  );
  // Administrators may create webhooks for every team, other people only for teams that they own.
  const allTeams = useApi<Team[]>('/teams', { enabled: isAdmin && opened });
  const teams = isAdmin ? (allTeams.data ?? []) : user.teams.filter(({ role }) => role === 'owner');
  const kinds = (['user', 'team', 'router'] as const).filter(
    (ownerKind) => ownerKind === 'user' || (ownerKind === 'team' ? teams.length > 0 : isAdmin),
  );
  const close = (): void => {
    create.reset();
    setUrl('');
    onClose();
  };
  const { error, data } = create;
  return (
    <SecretModal
      opened={opened}
      onClose={close}
      title={data ? 'The secret of your webhook' : 'New webhook'}
      size="lg"
      showsSecret={data !== undefined}
    >
      {data ? (
        <SecretShownOnce secret={data.secret} onDone={close} />
      ) : (
        <DialogForm
          change={create}
          failure="The webhook was not created"
          inputs={['url', 'events']}
          action="Create webhook"
          isReady={events.length > 0 && (kind !== 'team' || teamId !== null)}
          onSubmit={() =>
            create.mutate({ url, events, kind, ...(kind === 'team' && teamId !== null ? { teamId } : {}) })
          }
          onCancel={close}
        >
          <TextInput
            label="Address"
            placeholder="https://ci.example.com/hooks"
            required
            data-autofocus
            value={url}
            error={error?.findProblem('url')}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <MultiSelect
            label="Events"
            required
            data={webhookSelections}
            value={events}
            error={error?.findProblem('events')}
            onChange={setEvents}
          />
          {kinds.length > 1 ? (
            <Select
              label="Owner"
              data={kinds.map((ownerKind) => ({ value: ownerKind, label: kindNames[ownerKind] }))}
              value={kind}
              allowDeselect={false}
              onChange={(chosen) => setKind(kinds.find((ownerKind) => ownerKind === chosen) ?? 'user')}
            />
          ) : null}
          {kind === 'team' ? (
            <Select
              label="Team"
              required
              data={teams.map(({ id, name }) => ({ value: id, label: name }))}
              value={teamId}
              onChange={setTeamId}
            />
          ) : null}
        </DialogForm>
      )}
    </SecretModal>
  );
}

/** Shows a new secret, which cannot be shown again later. */
export function SecretShownOnce({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Copy the secret now: it is shown only once. The receiver uses the secret to check that a message comes from this
        router.
      </Text>
      <CodeBlock wrap code={secret} label="the secret" />
      <Group justify="flex-end">
        <Button onClick={onDone}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
