import { Anchor, Badge, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { computeTokensPerSecond, type AnswerFacts as Facts } from '../../formats/conversation.ts';
import { Copy } from '../../parts/copy.tsx';
import { formatCount, formatDuration, formatMoney } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

export function AnswerFacts({ facts }: { facts: Facts }) {
  const { tier, worker, attempts, queueMs, firstTokenMs, totalMs, promptTokens, completionTokens, cost } = facts;
  const speed = computeTokensPerSecond(facts);
  const factTexts = [
    worker === undefined ? undefined : `worker ${worker}`,
    queueMs === undefined ? undefined : `queue ${formatDuration(Number(queueMs))}`,
    firstTokenMs === undefined ? undefined : `first token ${formatDuration(firstTokenMs)}`,
    totalMs === undefined ? undefined : `total ${formatDuration(totalMs)}`,
    promptTokens === undefined ? undefined : `${formatCount(promptTokens)} tokens in`,
    completionTokens === undefined ? undefined : `${formatCount(completionTokens)} out`,
    speed === undefined ? undefined : `${formatCount(Math.round(speed))} tokens/s`,
    cost === undefined ? undefined : `cost ${formatMoney(cost)}`,
    attempts === undefined || attempts === '1' ? undefined : `${attempts} attempts`,
  ].filter((text) => text !== undefined);
  return (
    <Group gap="xs">
      {tier === undefined ? null : (
        <Badge variant="default">
          {Object.hasOwn(tierNames, tier) ? tierNames[tier as keyof typeof tierNames] : tier}
        </Badge>
      )}
      <Text size="xs" c="dimmed" className="break">
        {factTexts.join(' · ')}
      </Text>
      <RequestId facts={facts} />
    </Group>
  );
}

/** Shows the request's id, which becomes a link to the request's page once the ledger has recorded the request. */
function RequestId({ facts: { requestId, cost } }: { facts: Facts }) {
  if (requestId === undefined) return null;
  return (
    <Group gap={2} wrap="nowrap">
      {cost === undefined ? (
        <Text size="xs" c="dimmed" className="break">
          {requestId}
        </Text>
      ) : (
        <Anchor
          component={Link}
          href={`/requests/${encodeURIComponent(requestId)}`}
          size="xs"
          className="break"
          aria-label={`Request ${requestId}`}
        >
          {requestId}
        </Anchor>
      )}
      <Copy value={requestId} label="Copy the request id" />
    </Group>
  );
}
