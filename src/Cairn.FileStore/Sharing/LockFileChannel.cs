using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

/// <summary>
/// For network file systems, and wherever else memory is not shared: the side file is only opened, by one process at a time,
/// and its content means nothing.
/// </summary>
internal sealed unsafe class LockFileChannel : Channel
{
    private const int LongestPauseMs = 8;

    private readonly string _path;
    private readonly long[] _word = GC.AllocateArray<long>(1, pinned: true);
    private SafeFileHandle? _lock;

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
            try
            {
                _lock = File.OpenHandle(_path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
                return;
            }
            catch (IOException e) when (e is not (DirectoryNotFoundException or PathTooLongException))
            {
                if (Stopwatch.GetElapsedTime(start) >= timeout)
                {
                    throw Throw.LockTimeout(_path, timeout, e);
                }
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
}
