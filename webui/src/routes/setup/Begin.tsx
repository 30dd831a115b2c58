// The first question to a new box.
import { t } from '../../lib/messages';
import { Gate } from '../../ui/Gate';
import { Icon, type IconName } from '../../ui/Icon';
import css from './SetupPage.module.css';

const ways: readonly { name: 'new' | 'join'; icon: IconName }[] = [
  { name: 'new', icon: 'plus' },
  { name: 'join', icon: 'nodes' },
];

export function Begin({ onChoose }: { onChoose: (way: string) => void }) {
  return (
    <Gate title={t('begin.title')} lead={t('begin.lead')} wide>
      <div class={css.ways}>
        {ways.map(({ name, icon }) => (
          <a
            key={name}
            href={`/?start=${name}`}
            onClick={(event) => {
              event.preventDefault();
              onChoose(name);
            }}
          >
            <Icon name={icon} size={28} />
            <span>
              <b>{t(`begin.${name}`)}</b>
              {t(`begin.${name}_text`)}
            </span>
            <Icon name="chevron" />
          </a>
        ))}
      </div>
    </Gate>
  );
}
