// The words of the warning before a session ends.
import '../messages/en-dialogs';
import { logout } from '../lib/auth';
import { countdown } from '../lib/format';
import { t } from '../lib/messages';
import { Button } from './Button';
import { Dialog } from './Dialog';

export interface ExpiryProps {
  left: number;
  final: boolean; // at the longest time of a session staying is not possible
  onStay: () => void;
}

export default function ExpiryDialog({ left, final, onStay }: ExpiryProps) {
  return (
    <Dialog
      title={t('expiry.title')}
      onClose={onStay}
      footer={
        <>
          <Button onClick={() => void logout()}>{t('frame.logout')}</Button>
          {!final && (
            <Button variant="primary" data-autofocus="" onClick={onStay}>
              {t('expiry.stay')}
            </Button>
          )}
        </>
      }
    >
      <p>{t(final ? 'expiry.text_final' : 'expiry.text')}</p>
      <p aria-hidden="true">
        <strong>{countdown(left)}</strong>
      </p>
    </Dialog>
  );
}
