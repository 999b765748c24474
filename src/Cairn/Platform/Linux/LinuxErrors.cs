// The error numbers of x64 and arm64 Linux, and their meaning for a user whose store does not open.
using Cairn.Messages;

namespace Cairn.Platform.Linux;

internal static class LinuxErrors
{
    public const int NotPermitted = 1;
    public const int NoEntry = 2;
    public const int Interrupted = 4;
    public const int InputOutput = 5;
    public const int NoDevice = 6;
    public const int BadDescriptor = 9;
    public const int TryAgain = 11;
    public const int NoMemory = 12;
    public const int AccessDenied = 13;
    public const int Busy = 16;
    public const int Exists = 17;
    public const int CrossDevice = 18;
    public const int NotSupportedByDevice = 19;
    public const int NotDirectory = 20;
    public const int IsDirectory = 21;
    public const int Invalid = 22;
    public const int TooManyFilesOnMachine = 23;
    public const int TooManyFilesInProcess = 24;
    public const int FileTooBig = 27;
    public const int NoSpace = 28;
    public const int ReadOnlyFileSystem = 30;
    public const int NameTooLong = 36;
    public const int NoLocks = 37;
    public const int NoSystemCall = 38;
    public const int TooManyLinks = 40;
    public const int TimeExpired = 62;
    public const int NotSupported = 95;
    public const int AddressInUse = 98;
    public const int NoBuffers = 105;
    public const int TimedOut = 110;
    public const int ConnectionRefused = 111;
    public const int QuotaExceeded = 122;
    public const int Canceled = 125;

    /// <summary>Creates the exception for a failed opening or creation, as StorePlatform promises it.</summary>
    public static Exception Open(string path, int error, bool forWriting)
    {
        string purpose = forWriting ? "reading and writing" : "reading";
        return error switch
        {
            NoEntry or NotDirectory => FileFailures.NotFound(path),
            AccessDenied or NotPermitted => FileFailures.MayNotOpen(path, forWriting),
            IsDirectory => FileFailures.IsADirectory(path),
            NoDevice => FileFailures.NotARegularFile(path),
            ReadOnlyFileSystem => new StoreException(
                $"The store '{path}' is on a read-only file system, and even a program that only reads entries writes to the " +
                "file. Mount it writable, or copy the file to a place that is."),
            TooManyFilesInProcess or TooManyFilesOnMachine => new StoreException(
                $"The store '{path}' could not be opened because too many files are open. {CloseSomeFiles(error)}"),
            NameTooLong => new StoreException(
                $"The path '{path}' is too long for its file system. Use a shorter one."),
            TooManyLinks => new StoreException(
                $"The path '{path}' goes through too many symbolic links, perhaps in a circle. Use the file's own path."),
            _ => Failed($"The store '{path}' could not be opened for {purpose}", error),
        };
    }

    /// <summary>Creates the exception for a failed creation of a file in a directory.</summary>
    public static Exception CreateIn(string directory, string name, int error)
    {
        string path = Path.Combine(directory, name);
        return error switch
        {
            NoEntry or NotDirectory => FileFailures.NoDirectoryFor(path),
            AccessDenied or NotPermitted => FileFailures.MayNotCreate(path),
            ReadOnlyFileSystem => new StoreException(
                $"The store '{path}' cannot be created because its file system is read-only. Mount it writable, or " +
                "choose another place."),
            NoSpace => new StoreException(
                $"The store '{path}' cannot be created because its file system has no room for another file. Free " +
                "some space or inodes, or choose another place."),
            QuotaExceeded => FileFailures.NoQuotaFor(path),
            CrossDevice => FileFailures.OnAnotherFileSystem(path),
            IsDirectory or NoDevice or TooManyFilesInProcess or TooManyFilesOnMachine or NameTooLong or TooManyLinks => Open(path, error, forWriting: true),
            _ => FileFailures.NotCreated(path, Text(error)),
        };
    }

    /// <summary>Creates the exception for a failed removal of a file's name.</summary>
    public static Exception Delete(string path, int error) => error switch
    {
        AccessDenied or NotPermitted => FileFailures.MayNotDelete(path),
        ReadOnlyFileSystem => new StoreException(
            $"The file '{path}' cannot be deleted because its file system is read-only. Mount it writable."),
        IsDirectory => FileFailures.IsADirectory(path),
        _ => Failed($"The file '{path}' could not be deleted", error),
    };

    /// <summary>Creates the exception for a failed reservation of space in a file.</summary>
    public static StoreException NoRoom(string path, long bytesNeeded, long? bytesAvailable, int error)
    {
        string available = bytesAvailable is { } bytes ? $" ({ByteText.Of(bytes)} are available)" : "";
        string remedy = error switch
        {
            NoSpace => $"its file system is full{available}. Free some space",
            QuotaExceeded => "this user's disk quota is exhausted. Raise it, free some space",
            FileTooBig =>
                "a file of that size exceeds this process's limit ('ulimit -f') or the file system's. Raise the limit",
            NoMemory =>
                $"its file system is in memory, and there is not so much of it{available}. Free some memory, or raise the container's limit",
            _ => $"making room failed: {Text(error)}. Check the disk",
        };
        return new StoreException(
            $"The store '{path}' needs {ByteText.Of(bytesNeeded)}, but {remedy}, choose a smaller capacity, or put the store " +
            "elsewhere.");
    }

    /// <summary>Creates the exception for a failed mapping.</summary>
    public static StoreException Map(string path, long bytes, int error) => new(error switch
    {
        NoMemory =>
            $"The store '{path}' could not be mapped: {ByteText.Of(bytes)} of address space are not available. Raise the " +
            "limits 'ulimit -v' and vm.max_map_count, or use a smaller (maximum) capacity.",
        AccessDenied =>
            $"The store '{path}' could not be mapped for writing: the file was opened for reading only, or a security " +
            "policy forbids it.",
        NotSupportedByDevice =>
            $"The store '{path}' could not be mapped: its file system does not support mapped files. Put it on a local " +
            "disk or in /dev/shm.",
        _ => $"The store '{path}' could not be mapped ({ByteText.Of(bytes)}): {Text(error)}.",
    });

    /// <summary>Returns the remedy for too many open files.</summary>
    public static string CloseSomeFiles(int error) =>
        error == TooManyFilesInProcess ? "Close some files of this process, or raise 'ulimit -n'." : "Close some files on this machine, or raise fs.file-max.";

    public static StoreException Failed(string what, int error) =>
        new($"{what}: {Text(error)}.{(error == InputOutput ? " Check the disk." : "")}");

    public static string Text(int error) => $"{Marshal.GetPInvokeErrorMessage(error)} (error {error})";
}
