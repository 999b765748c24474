using Cairn.Steps;
using Cairn.Tests.Concurrency;

namespace Cairn.Tests.Engine;

/// <summary>
/// W3 and W4: an operation that does not get the lock retracts the value without it. The lock's holder, which is about to write a result that depends
/// on that value, does not restore it. The test stops the holder between two steps. The other operation uses a second opening.
/// </summary>
[Collection(ProtocolScripts.Name)]
public sealed class RetractionWithoutLockTests : IDisposable
{
    private static readonly byte[] Long = new byte[100_000];

    private readonly TestDirectory _directory = new();
    private readonly CairnStore _holder;
    private readonly CairnStore _other;

    public RetractionWithoutLockTests()
    {
        var options = new StoreOptions { Path = _directory["store"], CapacityBytes = 4 << 20 };
        _holder = CairnStore.Open(options);
        _other = CairnStore.Open(options with { LockTimeout = TimeSpan.FromMilliseconds(1) });
    }

    public static TheoryData<string> Operations =>
        ["append", "prepend", "replace", "compare and swap", "increment", "touch", "replace by a long value"];

    public void Dispose()
    {
        _other.Dispose();
        _holder.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [MemberData(nameof(Operations))]
    public void Value_removed_without_the_lock_is_not_brought_back_by_the_holder(string operation)
    {
        _holder.DefaultCollection.Set("key", "1"u8);
        _holder.DefaultCollection.TryGetInfo("key", out EntryInfo info);
        bool isRemoved = false;
        using var script = new ProtocolScript(ProtocolStep.EntryCopied, () => isRemoved = _other.DefaultCollection.Remove("key"));

        WriteStatus status = Run(operation, info.Version);

        Assert.True(script.HasRun);
        Assert.True(isRemoved);
        Assert.Equal(WriteStatus.NotFound, status);
        Assert.False(_other.DefaultCollection.Contains("key"));
        Assert.Equal(0, _holder.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Value_set_unconditionally_stays_because_it_does_not_rest_on_what_was_removed()
    {
        _holder.DefaultCollection.Set("key", "1"u8);
        using var script = new ProtocolScript(ProtocolStep.EntryCopied, () => _other.DefaultCollection.Remove("key"));

        bool isSet = _holder.DefaultCollection.Set("key", "2"u8);

        Assert.True(script.HasRun);
        Assert.True(isSet);
        Assert.Equal("2", _other.DefaultCollection.GetString("key"));
        Assert.Equal(1, _holder.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void One_value_is_removed_once()
    {
        _holder.DefaultCollection.Set("key", "1"u8);
        bool isRemovedByOther = false;
        using var script = new ProtocolScript(ProtocolStep.BucketVersionRaised, () => isRemovedByOther = _other.DefaultCollection.Remove("key"));

        bool isRemovedByHolder = _holder.DefaultCollection.Remove("key");

        Assert.True(script.HasRun);
        Assert.True(isRemovedByOther);
        Assert.False(isRemovedByHolder);
        Assert.Equal(0, _holder.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Lease_cancelled_without_the_lock_sets_nothing()
    {
        _holder.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);
        using var script = new ProtocolScript(ProtocolStep.EntryCopied, () => _other.DefaultCollection.Remove("key"));

        bool isSet = lease!.TrySet("late"u8);

        Assert.True(script.HasRun);
        Assert.False(isSet);
        Assert.False(_other.DefaultCollection.Contains("key"));
    }

    private WriteStatus Run(string operation, ulong version) => operation switch
    {
        "append" => _holder.DefaultCollection.Append("key", "0"u8),
        "prepend" => _holder.DefaultCollection.Prepend("key", "0"u8),
        "replace" => _holder.DefaultCollection.Replace("key", "2"u8),
        "compare and swap" => _holder.DefaultCollection.CompareAndSwap("key", "2"u8, version),
        "increment" => _holder.DefaultCollection.Increment("key", 1, out _),
        "touch" => _holder.DefaultCollection.Touch("key", TimeSpan.FromMinutes(1)),
        "replace by a long value" => _holder.DefaultCollection.Replace("key", Long),
        _ => throw new ArgumentOutOfRangeException(nameof(operation), operation, "Not an operation."),
    };
}
