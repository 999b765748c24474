using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>P1: a byte lock is exclusive between open files and ends with its holder, in every way in which the holder can end.</summary>
public sealed class ByteLockTests : IDisposable
{
    private const long Gate = 1L << 62;

    private readonly TestDirectory _directory = new();

    public ByteLockTests() => File.WriteAllBytes(FilePath, new byte[4096]);

    private string FilePath => _directory["locked"];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Byte_is_locked_by_one_open_file_at_a_time()
    {
        using StoreFile first = HostPlatform.Current.Open(FilePath);
        using StoreFile second = HostPlatform.Current.Open(FilePath);

        Assert.True(first.TryLockByte(Gate));
        Assert.False(second.TryLockByte(Gate));

        first.UnlockByte(Gate);
        Assert.True(second.TryLockByte(Gate));
        Assert.False(first.TryLockByte(Gate));
    }

    [Fact]
    public void Holder_may_lock_its_byte_again()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);

        Assert.True(file.TryLockByte(Gate));
        Assert.True(file.TryLockByte(Gate));
    }

    [Fact]
    public void Neighbouring_bytes_are_locked_apart()
    {
        using StoreFile first = HostPlatform.Current.Open(FilePath);
        using StoreFile second = HostPlatform.Current.Open(FilePath);

        Assert.True(first.TryLockByte(Gate + 1));
        Assert.True(second.TryLockByte(Gate + 2));
        Assert.True(second.TryLockByte(Gate));
        Assert.False(second.TryLockByte(Gate + 1));
    }

    [Fact]
    public void Lock_is_seen_by_others_and_not_by_its_holder()
    {
        using StoreFile holder = HostPlatform.Current.Open(FilePath);
        using StoreFile other = HostPlatform.Current.Open(FilePath);
        holder.TryLockByte(Gate + 17);

        Assert.True(other.IsByteLockedByOther(Gate + 17, 1));
        Assert.True(other.IsByteLockedByOther(Gate, 256));
        Assert.False(other.IsByteLockedByOther(Gate, 17));
        Assert.False(other.IsByteLockedByOther(Gate + 18, 256));
        Assert.False(holder.IsByteLockedByOther(Gate, 256));
    }

    [Fact]
    public void Reader_sees_locks_and_may_not_take_them()
    {
        using StoreFile holder = HostPlatform.Current.Open(FilePath);
        using StoreFile reader = HostPlatform.Current.OpenReadOnly(FilePath);
        holder.TryLockByte(Gate);

        Assert.True(reader.IsByteLockedByOther(Gate, 1));
        var refused = Assert.Throws<StoreException>(() => reader.TryLockByte(Gate + 1));
        Assert.Contains("opened for reading only", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Closing_one_open_file_leaves_the_locks_of_another()
    {
        using StoreFile holder = HostPlatform.Current.Open(FilePath);
        holder.TryLockByte(Gate);

        HostPlatform.Current.Open(FilePath).Dispose();

        using StoreFile other = HostPlatform.Current.Open(FilePath);
        Assert.False(other.TryLockByte(Gate));
    }

    [Fact]
    public void Closing_releases_the_lock_although_a_mapping_was_left_open()
    {
        using StoreFile other = HostPlatform.Current.Open(FilePath);
        StoreFile holder = HostPlatform.Current.Open(FilePath);
        MappedRegion forgotten = holder.Map(4096, writable: true);
        Assert.True(holder.TryLockByte(Gate));

        holder.Dispose();

        Assert.True(other.TryLockByte(Gate));
        Assert.Throws<ObjectDisposedException>(() => forgotten.Flush(0, 4096));
    }

    [Fact]
    public async Task Waiting_for_a_lock_ends_when_its_holder_gives_it_back()
    {
        using StoreFile holder = HostPlatform.Current.Open(FilePath);
        using StoreFile other = HostPlatform.Current.Open(FilePath);
        holder.TryLockByte(Gate);
        Task<bool> waiter = OwnThread.Run(() => other.LockByte(Gate, TimeSpan.FromMinutes(1)));

        holder.UnlockByte(Gate);

        Assert.True(await waiter);
        Assert.True(holder.IsByteLockedByOther(Gate, 1));
    }

    [Fact]
    public void Waiting_for_a_lock_that_stays_held_gives_up_in_time()
    {
        using StoreFile holder = HostPlatform.Current.Open(FilePath);
        using StoreFile other = HostPlatform.Current.Open(FilePath);
        holder.TryLockByte(Gate);

        Assert.False(other.LockByte(Gate, TimeSpan.Zero));
        Assert.False(other.LockByte(Gate, TimeSpan.FromMilliseconds(20)));
    }

    [Fact]
    public void Lock_of_a_killed_process_is_free_at_once()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-byte", FilePath, $"{Gate + 3}");
        Assert.Equal("held", child.ReadLine());
        Assert.False(file.TryLockByte(Gate + 3));
        Assert.True(file.IsByteLockedByOther(Gate, 256));

        child.Kill();

        Assert.False(file.IsByteLockedByOther(Gate, 256));
        Assert.True(file.TryLockByte(Gate + 3));
    }

    [Fact]
    public void Process_that_this_one_starts_does_not_inherit_the_lock()
    {
        StoreFile holder = HostPlatform.Current.Open(FilePath);
        holder.TryLockByte(Gate);
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-byte", FilePath, $"{Gate + 1}");
        Assert.Equal("held", child.ReadLine());

        holder.Dispose();

        using StoreFile other = HostPlatform.Current.Open(FilePath);

        // Waits, because another test may be starting a process, which briefly inherits all open files.
        Assert.True(other.LockByte(Gate, TimeSpan.FromSeconds(20)));
    }
}
