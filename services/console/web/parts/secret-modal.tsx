import { Modal, type ModalProps } from '@mantine/core';
import { createContext, useState } from 'react';

/** Called when a copy button inside the dialog has copied a text. */
export const CopyContext = createContext<() => void>(() => undefined);

export interface SecretModalProps extends ModalProps {
  /** Whether the dialog shows a secret that can be seen only now. */
  showsSecret: boolean;
}

/**
 * A dialog that may show a secret once. Closing the dialog loses the secret. Therefore Escape and clicks outside close it only after
 * something in it was copied. The buttons of the dialog close it at any time.
 */
export function SecretModal({ showsSecret, children, ...props }: SecretModalProps) {
  const [hasCopied, setHasCopied] = useState(false);
  if (hasCopied && !showsSecret) setHasCopied(false);
  const mayLeave = !showsSecret || hasCopied;
  return (
    <Modal {...props} closeOnEscape={mayLeave} closeOnClickOutside={mayLeave}>
      <CopyContext value={() => setHasCopied(true)}>{children}</CopyContext>
    </Modal>
  );
}
