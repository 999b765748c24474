using System.Diagnostics;
using System.Runtime.CompilerServices;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

/// <summary>
/// For network file systems, and wherever else memory is not shared: the side file is only opened, by one process at a time,
/// and its content means nothing.
/// </summary>
/// <remarks>
/// Where the system could share memory but this process was told not to, others may not have been told. So a turn then is also
/// the byte that they lock: whoever polls and whoever does not never write at once. On network file systems everybody polls,
/// and both locks may be one and the same there, which would be in its own way.
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
        Word = (long*)Unsafe.AsPointer(ref _word[0]); // Pinned, and referenced for as long as this object is.
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

    // Null if somebody else has the turn; an IOException may say the same.
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
