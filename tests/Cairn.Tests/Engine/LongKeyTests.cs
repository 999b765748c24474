namespace Cairn.Tests.Engine;

/// <summary>
/// A key can be longer than a segment of a small store. With its header it can be longer than the largest copy that is made under the lock.
/// </summary>
public sealed class LongKeyTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly CairnStore _store;

    public LongKeyTests() =>
        _store = CairnStore.Open(new StoreOptions { Path = _directory["store"], CapacityBytes = StoreLimits.MinCapacityBytes });

    public static TheoryData<int> Lengths => [4_000, 4_096, 5_000, 65_536];

    public void Dispose()
    {
        _store.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Value_that_has_expired_before_it_is_set_removes_the_key(int keyBytes)
    {
        byte[] key = new byte[keyBytes];
        _store.DefaultCollection.Set(key, "value"u8);

        bool isDone = _store.DefaultCollection.Set(key, "late"u8, Expiration.At(DateTimeOffset.UnixEpoch));

        Assert.True(isDone);
        Assert.False(_store.DefaultCollection.Contains(key));
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Number_is_incremented(int keyBytes)
    {
        byte[] key = new byte[keyBytes];
        _store.DefaultCollection.Set(key, "41"u8);

        WriteStatus status = _store.DefaultCollection.Increment(key, 1, out long value);

        Assert.Equal((WriteStatus.Stored, 42), (status, value));
        Assert.Equal("42", _store.DefaultCollection.GetString(key));
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Expiration_is_changed_also_to_the_past(int keyBytes)
    {
        byte[] key = new byte[keyBytes];
        _store.DefaultCollection.Set(key, "value"u8);

        WriteStatus later = _store.DefaultCollection.Touch(key, TimeSpan.FromHours(1));
        bool isThere = _store.DefaultCollection.TryGetInfo(key, out EntryInfo info);
        WriteStatus past = _store.DefaultCollection.Touch(key, Expiration.At(DateTimeOffset.UnixEpoch));

        Assert.Equal((WriteStatus.Stored, WriteStatus.Stored), (later, past));
        Assert.True(isThere);
        Assert.NotNull(info.ExpiresAt);
        Assert.False(_store.DefaultCollection.Contains(key));
    }

    [Fact]
    public void Key_longer_than_a_segment_cannot_be_leased_and_says_so_at_once()
    {
        LeaseStatus status = _store.DefaultCollection.AcquireLease(new byte[5_000], TimeSpan.FromSeconds(1), out StoreLease? lease);

        Assert.Equal(LeaseStatus.Busy, status);
        Assert.Null(lease);
    }

    [Fact]
    public void Key_that_fits_a_segment_can_be_leased()
    {
        LeaseStatus status = _store.DefaultCollection.AcquireLease(new byte[4_000], TimeSpan.Zero, out StoreLease? lease);

        Assert.Equal(LeaseStatus.Acquired, status);
        Assert.True(lease!.TrySet("value"u8));
        lease.Dispose();
    }
}
