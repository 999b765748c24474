namespace Cairn.Microbenchmarks;

/// <summary>A store in memory with a clock that the measurement can move forward. <see cref="Dispose"/> deletes the store.</summary>
internal sealed class ExpiryScene : IDisposable
{
    private ExpiryScene(CairnStore store, ShiftedClock clock)
    {
        Store = store;
        Clock = clock;
    }

    public ShiftedClock Clock { get; }

    public CairnStore Store { get; }

    public static ExpiryScene Create(bool removes, long capacityBytes = 512L << 20)
    {
        string path = Path.Combine(Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"cairn-expiry-{Environment.ProcessId}-{Guid.NewGuid():N}.cairn");
        var clock = new ShiftedClock();
        return new ExpiryScene(
            CairnStore.Open(new StoreOptions
            {
                Path = path,
                CapacityBytes = capacityBytes,
                FlushOnClose = false,
                PreTouch = true,
                RemovesExpired = removes,
                TimeProvider = clock,
            }),
            clock);
    }

    public void Dispose()
    {
        Store.Dispose();
        File.Delete(Store.Path);
    }
}
