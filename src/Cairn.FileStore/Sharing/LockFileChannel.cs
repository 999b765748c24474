using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

/// <summary>
/// A channel for network file systems and other places where memory cannot be shared. One process at a time opens the side file; the content of
/// the side file has no meaning.
/// </summary>
/// <remarks>
/// If this process is configured to poll although the system can share memory, other processes may still use a <see cref="MappedChannel"/>.
/// Therefore a turn then also locks the byte that they lock, so that a polling process and a mapping process never write at the same time. On a
/// network file system every process polls, and both locks may be the same lock there, so a process that took both would block itself.
/// </remarks>
internal sealed unsafe class LockFileChannel : Channel
{
    private const int LongestPauseMs = 8;

    private readonly string _path;
    private readonly long[] _word = GC.AllocateArray<long>(1, pinned: true);
    private IDisposable? _lock;
    private bool? _mayHaveMappedPeers;

    public LockFileChannel(string path)
    {
        _path = path;
        Word = (long*)Unsafe.AsPointer(ref _word[0]); // The array is pinned, and referenced as long as this object is.
    }

    public override bool IsShared => false;

    public override bool IsCurrent => true;

    public override void Enter(TimeSpan timeout)
    {
        long start = Stopwatch.GetTimestamp();
        for (int attempt = 0; ; attempt++)
        {
            Exception? inTheWay = null;
            try
            {
                _lock = TryLock();
                if (_lock is not null)
                {
                    return;
                }
            }
            catch (IOException e) when (e is not (DirectoryNotFoundException or PathTooLongException))
            {
                inTheWay = e;
            }

            if (Stopwatch.GetElapsedTime(start) >= timeout)
            {
                throw Throw.LockTimeout(_path, timeout, inTheWay);
            }

            Thread.Sleep(Random.Shared.Next(Math.Min(attempt + 1, LongestPauseMs) + 1));
        }
    }

    public override void Leave() => _lock?.Dispose();

    public override CommitRecord Read(out long generation)
    {
        generation = 0;
        return default;
    }

    public override long Commit(CommitRecord record, bool isNewBase) => 0;

    public override void Close()
    {
    }

    // Returns null if another process has the turn. An IOException can mean the same.
    private IDisposable? TryLock()
    {
        SafeFileHandle handle = File.OpenHandle(_path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        _mayHaveMappedPeers ??= MappedChannel.IsPossibleAt(_path);
        if (_mayHaveMappedPeers == false)
        {
            return handle;
        }

        var file = new LinuxStoreFile(handle, _path, isPublished: true);
        try
        {
            if (file.TryLockByte(MappedChannel.TurnByte))
            {
                return file;
            }
        }
        catch
        {
            file.Dispose();
            throw;
        }

        file.Dispose();
        return null;
    }
}
