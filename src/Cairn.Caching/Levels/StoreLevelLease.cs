namespace Cairn.Caching.Levels;

/// <summary>A lease of the store.</summary>
internal sealed class StoreLevelLease(StoreLease lease) : ILevelLease
{
    public StoreLease Lease => lease;

    public bool IsHeld
    {
        get
        {
            try
            {
                return lease.IsHeld;
            }
            catch (ObjectDisposedException)
            {
                return false; // It ended with the opening of the store that it was taken by.
            }
        }
    }

    public ValueTask DisposeAsync()
    {
        Release();
        return ValueTask.CompletedTask;
    }

    /// <summary>Gives it back.</summary>
    public void Release()
    {
        try
        {
            lease.Dispose();
        }
        catch (ObjectDisposedException)
        {
            // As above.
        }
    }
}
