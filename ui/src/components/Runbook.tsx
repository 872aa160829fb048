// The address of what to do, which a person wrote: a link if it is one of the web.

export const Runbook = ({ address }: { address: string }) =>
  /^https?:\/\//.test(address) ? (
    <a href={address} rel="noreferrer" target="_blank" className="link-button">
      {address}
    </a>
  ) : (
    <>{address}</>
  );
