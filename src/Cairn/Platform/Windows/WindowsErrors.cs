// The error numbers of Windows, and their meaning for a user whose store does not open. .NET opens the files. Its exceptions have the number in the lower
// half of their HResult.
using Cairn.Messages;

namespace Cairn.Platform.Windows;

internal static class WindowsErrors
{
    public const int InvalidFunction = 1;
    public const int NotFound = 2;
    public const int PathNotFound = 3;
    public const int AccessDenied = 5;
    public const int NotEnoughMemory = 8;
    public const int NotSameDevice = 17;
    public const int WriteProtected = 19;
    public const int SharingViolation = 32;
    public const int LockViolation = 33;
    public const int HandleDiskFull = 39;
    public const int NotSupported = 50;
    public const int FileExists = 80;
    public const int InvalidParameter = 87;
    public const int DiskFull = 112;
    public const int NotImplemented = 120;
    public const int InvalidLevel = 124;
    public const int AlreadyExists = 183;
    public const int FileTooLarge = 223;
    public const int Pending = 997;
    public const int UserMappedFile = 1224;
    public const int NoSystemResources = 1450;
    public const int CommitmentLimit = 1455;
    public const int DiskQuotaExceeded = 1295;

    public static int Of(Exception failure) => failure.HResult & 0xFFFF;

    /// <summary>Creates the exception for a failed opening, as StorePlatform promises it.</summary>
    public static Exception Open(string path, Exception failure, bool forWriting) => failure switch
    {
        FileNotFoundException or DirectoryNotFoundException => FileFailures.NotFound(path),
        UnauthorizedAccessException when Directory.Exists(path) => FileFailures.IsADirectory(path),
        UnauthorizedAccessException when forWriting && IsMarkedReadOnly(path) => new StoreException(
            $"The store '{path}' is marked as read-only, and even a program that only reads entries writes to the file. Take the mark away (attrib -r)."),
        UnauthorizedAccessException => FileFailures.MayNotOpen(path, forWriting),
        _ when Of(failure) == WriteProtected => new StoreException(
            $"The store '{path}' is on a medium that is write-protected, and even a program that only reads entries writes to the file."),
        _ when Of(failure) == SharingViolation => new StoreException(
            $"The store '{path}' is open in a program that does not share it, perhaps a copy, a backup or a scan. Try again when that program has ended.", failure),
        _ => new StoreException(
            $"The store '{path}' could not be opened for {(forWriting ? "reading and writing" : "reading")}: {failure.Message}", failure),
    };

    /// <summary>Creates the exception for a failed creation of a file.</summary>
    /// <param name="path">The intended final name.</param>
    /// <param name="failure">The exception of .NET.</param>
    public static Exception Create(string path, Exception failure) => failure switch
    {
        FileNotFoundException or DirectoryNotFoundException => FileFailures.NoDirectoryFor(path),
        UnauthorizedAccessException when Directory.Exists(path) => FileFailures.IsADirectory(path),
        UnauthorizedAccessException => FileFailures.MayNotCreate(path),
        _ => new StoreException($"The store '{path}' could not be created: {failure.Message}", failure),
    };

    /// <summary>Creates the exception for a failed publication of a file.</summary>
    public static Exception Publish(string path, int error) => error switch
    {
        NotFound or PathNotFound => FileFailures.NoDirectoryFor(path),
        NotSameDevice => new StoreException(
            $"The store '{path}' cannot get its name: it was prepared on another volume. Something was mounted over its directory meanwhile; try again."),
        AccessDenied or UserMappedFile or SharingViolation when File.Exists(path) => new StoreException(
            $"The file '{path}' cannot be replaced: this user has no permission, or a program has it open or mapped. Windows replaces no file that is mapped, and one " +
            "that closed a store keeps it mapped until its memory is collected. End the programs that used it, and try again."),
        AccessDenied => FileFailures.MayNotCreate(path),
        _ => Failed($"The store '{path}' could not get its name", error),
    };

    /// <summary>Creates the exception for a failed reservation of space in a file.</summary>
    public static StoreException NoRoom(string path, long bytesNeeded, int error) => error switch
    {
        DiskFull or HandleDiskFull => FileFailures.Full(path, bytesNeeded, BytesAvailable(path)),
        DiskQuotaExceeded => new StoreException(
            $"The store '{path}' needs {ByteText.Of(bytesNeeded)}, but this user's disk quota is exhausted. Raise it, free some space, choose a smaller capacity, or " +
            "put the store elsewhere."),
        FileTooLarge or InvalidParameter => new StoreException(
            $"The store '{path}' needs {ByteText.Of(bytesNeeded)}, more than its file system lets a file have. Choose a smaller capacity, or put the store elsewhere."),
        _ => Failed($"The store '{path}' needs {ByteText.Of(bytesNeeded)}, but making room failed", error),
    };

    /// <summary>Creates the exception for a failed mapping.</summary>
    public static StoreException Map(string path, long bytes, int error) => error switch
    {
        DiskFull or HandleDiskFull => NoRoom(path, bytes, error),
        NotEnoughMemory or NoSystemResources or CommitmentLimit => new StoreException(
            $"The store '{path}' could not be mapped: {ByteText.Of(bytes)} of address space or of the paging file are not available. Use a smaller (maximum) capacity."),
        AccessDenied => new StoreException($"The store '{path}' could not be mapped for writing: the file was opened for reading only."),
        _ => Failed($"The store '{path}' could not be mapped ({ByteText.Of(bytes)})", error),
    };

    public static StoreException Failed(string what, int error) => new($"{what}: {Text(error)}.");

    public static string Text(int error) => $"{Marshal.GetPInvokeErrorMessage(error).TrimEnd('.')} (error {error})";

    private static long? BytesAvailable(string path)
    {
        try
        {
            return new DriveInfo(Path.GetPathRoot(path)!).AvailableFreeSpace;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return null; // Only the message has less detail.
        }
    }

    private static bool IsMarkedReadOnly(string path) =>
        File.Exists(path) && (File.GetAttributes(path) & FileAttributes.ReadOnly) != 0;
}
