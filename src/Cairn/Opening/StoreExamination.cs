using Cairn.Encryption;
using Cairn.Messages;
using Cairn.Platform;

namespace Cairn.Opening;

/// <summary>A preview of the opening of a store. It creates, changes and locks nothing.</summary>
internal sealed class StoreExamination
{
    private readonly string _path;
    private readonly StoreLayout? _layout;
    private readonly long _fileBytes;

    private StoreExamination(string path, StoreLayout? layout, long fileBytes)
    {
        _path = path;
        _layout = layout;
        _fileBytes = fileBytes;
    }

    /// <summary>Examines the path and the options. Throws every exception that an opening throws before it changes anything.</summary>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreException">The file is not a store, is damaged, encrypted, of another version, or on an unsupported file system.</exception>
    public static StoreExamination Of(StoreOptions options)
    {
        options.Validate();
        StorePlatform platform = HostPlatform.Current;
        string path = Path.GetFullPath(options.Path);
        platform.RequireSupportedFileSystem(path);
        try
        {
            using StoreFile file = platform.Open(StoreOpener.FileAt(path));
            if (file.Length > 0)
            {
                StoreLayout layout = StoreOpener.ReadLayout(file, path);
                StoreKeys.Unlock(file, path, options.Encryption)?.Dispose();
                return new StoreExamination(path, layout, file.Length);
            }
        }
        catch (FileNotFoundException) when (options.OpenMode != StoreOpenMode.OpenExisting)
        {
            // The opening would create the file.
        }

        RequireCreatable(options);
        return new StoreExamination(path, null, 0);
    }

    /// <summary>Checks that a store can be created with these sizes.</summary>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    public static void RequireCreatable(StoreOptions options)
    {
        options.Validate();
        _ = StoreFormatter.Plan(options, out _);
    }

    /// <summary>
    /// Returns a message for a user that requests this capacity although the store exists with another one. Null if the capacity is the same.
    /// </summary>
    /// <param name="capacityBytes">The requested size of the file in bytes. Null if none was requested.</param>
    /// <param name="maxCapacityBytes">The requested size to which the file can grow, in bytes. Null if none was requested.</param>
    public string? DescribeOtherSize(long? capacityBytes, long? maxCapacityBytes)
    {
        long wanted = Math.Max(capacityBytes ?? 0, maxCapacityBytes ?? 0);
        return _layout is null || wanted == 0 ? null : DescribeOtherSize(_path, _layout.MaxCapacityBytes, _fileBytes, capacityBytes ?? wanted, wanted);
    }

    /// <inheritdoc cref="DescribeOtherSize(long?, long?)"/>
    /// <param name="path">The store's file.</param>
    /// <param name="existingBytes">The size in bytes to which the existing store can grow.</param>
    /// <param name="fileBytes">The size of its file in bytes.</param>
    /// <param name="capacityBytes">The requested size of the file in bytes.</param>
    /// <param name="wantedBytes">The requested size to which the file can grow, in bytes.</param>
    public static string? DescribeOtherSize(string path, long existingBytes, long fileBytes, long capacityBytes, long wantedBytes) =>
        existingBytes == wantedBytes
            ? null
            : $"The store '{path}' exists and keeps its size: {Size(fileBytes, existingBytes)}. The {Size(capacityBytes, wantedBytes)} that was asked for counts only " +
              $"when a store is created. To change the size, end all programs that use the store, then run: " +
              $"cairn compact --store '{path}' --capacity {Exact(Math.Min(capacityBytes, wantedBytes))} --max-capacity {Exact(wantedBytes)}";

    private static string Size(long bytes, long mostBytes) =>
        ByteText.Of(bytes) == ByteText.Of(mostBytes) ? ByteText.Of(mostBytes) : $"{ByteText.Of(bytes)}, growing to {ByteText.Of(mostBytes)}";

    // Returns the size without rounding, in a form that the command-line tool reads.
    private static string Exact(long bytes) => bytes % (1 << 20) == 0 ? $"{bytes >> 20}MiB" : $"{bytes}";
}
