using Cairn.Encryption;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Opening;

/// <summary>What opening a store would find, without creating, changing or locking anything.</summary>
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

    /// <summary>Examines the path and the options. Throws whatever opening would throw before it changes anything.</summary>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreException">The file is not a store, is damaged, encrypted, of another version, or on a file system that cannot hold one.</exception>
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
            // It would be created.
        }

        RequireCreatable(options);
        return new StoreExamination(path, null, 0);
    }

    /// <summary>Checks that a store can have these sizes.</summary>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    public static void RequireCreatable(StoreOptions options)
    {
        options.Validate();
        _ = StoreFormatter.Plan(options, out _);
    }

    /// <summary>What a user should know who asks for this capacity although the store exists with another; null if nothing.</summary>
    /// <param name="capacityBytes">The size of the file that was asked for; null if none was.</param>
    /// <param name="maxCapacityBytes">The size to grow to that was asked for; null if none was.</param>
    public string? DescribeOtherSize(long? capacityBytes, long? maxCapacityBytes)
    {
        long wanted = Math.Max(capacityBytes ?? 0, maxCapacityBytes ?? 0);
        return _layout is null || wanted == 0 ? null : DescribeOtherSize(_path, _layout.MaxCapacityBytes, _fileBytes, capacityBytes ?? wanted, wanted);
    }

    /// <inheritdoc cref="DescribeOtherSize(long?, long?)"/>
    /// <param name="path">The store's file.</param>
    /// <param name="existingBytes">The size that the existing store may grow to.</param>
    /// <param name="fileBytes">The size of its file.</param>
    /// <param name="capacityBytes">The size of the file that was asked for.</param>
    /// <param name="wantedBytes">The size to grow to that was asked for.</param>
    public static string? DescribeOtherSize(string path, long existingBytes, long fileBytes, long capacityBytes, long wantedBytes) =>
        existingBytes == wantedBytes
            ? null
            : $"The store '{path}' exists and keeps its size: {Size(fileBytes, existingBytes)}. The {Size(capacityBytes, wantedBytes)} that was asked for counts only " +
              $"when a store is created. To change the size, end all programs that use the store, then run: " +
              $"cairn compact --store '{path}' --capacity {Exact(Math.Min(capacityBytes, wantedBytes))} --max-capacity {Exact(wantedBytes)}";

    private static string Size(long bytes, long mostBytes) =>
        ByteText.Of(bytes) == ByteText.Of(mostBytes) ? ByteText.Of(mostBytes) : $"{ByteText.Of(bytes)}, growing to {ByteText.Of(mostBytes)}";

    // As the tool reads it, without rounding.
    private static string Exact(long bytes) => bytes % (1 << 20) == 0 ? $"{bytes >> 20}MiB" : $"{bytes}";
}
