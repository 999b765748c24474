namespace Cairn.Server.Connections;

/// <summary>Bytes of buffers, counted over all workers. It refuses nothing: who makes it too much is closed when the
/// request at hand is done.</summary>
internal sealed class MemoryAccount
{
    private readonly long _limit;
    private long _bytes;

    public MemoryAccount(long limit) => _limit = limit;

    public long Bytes => Interlocked.Read(ref _bytes);

    // A stale value only lets one more request through, or asks one too many to leave.
    public bool IsExceeded => Volatile.Read(ref _bytes) > _limit;

    public void Add(long bytes) => Interlocked.Add(ref _bytes, bytes);
}
