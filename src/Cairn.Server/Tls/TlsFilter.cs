namespace Cairn.Server.Tls;

internal sealed unsafe class TlsFilter : IDisposable
{
    private int _calls;

    public bool IsEstablished => _calls >= 0;

    public void Receive(byte* bytes, int count) => _calls += count + *bytes;

    public void EndInput() => _calls++;

    public void Encrypt() => _calls++;

    public void Shutdown() => _calls++;

    public void Dispose() => _calls++;
}
