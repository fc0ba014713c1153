import { Progress, Text } from '@mantine/core';

/**
 * Shows how much of an upload is sent.
 * @param share from 0 to 1; undefined while nothing is uploaded
 */
export function UploadBar({ share }: { share: number | undefined }) {
  if (share === undefined) return null;
  return (
    <div>
      <Progress value={share * 100} aria-label="Progress of the upload" />
      <Text size="xs" c="dimmed" className="numeric">
        {share < 1 ? `${Math.floor(share * 100)} % is sent` : 'being stored …'}
      </Text>
    </div>
  );
}
