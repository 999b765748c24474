using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>
/// Damage to a log that a loss of power left: one changed bit in a record, a truncated file, or a missing one. Undoing the damage restores
/// the files.
/// </summary>
internal sealed class ImageDamage
{
    private readonly string _path;
    private readonly byte[] _whole;

    private ImageDamage(string path, string what, bool isProvable)
    {
        _path = path;
        _whole = File.ReadAllBytes(path);
        What = what;
        IsProvable = isProvable;
    }

    public string What { get; }

    /// <summary>Gets whether the files mark the damaged part as durable. If not, the damage looks like a torn tail.</summary>
    public bool IsProvable { get; }

    /// <summary>Damages a file of the log in a directory. Returns <see langword="null"/> if there is no log.</summary>
    /// <param name="directory">A directory with one store.</param>
    /// <param name="random">Chooses the damage.</param>
    /// <param name="durable">The position up to which the files mark everything as durable (<see cref="DurableOf"/>).</param>
    public static ImageDamage? Do(string directory, Random random, long durable)
    {
        if (FilesOf(directory) is not { IsEmpty: false } files)
        {
            return null;
        }

        LogFileInfo[] all = [.. files.All];
        LogFileInfo file = all[random.Next(all.Length)];
        switch (random.Next(5))
        {
            case 0:
                var deleted = new ImageDamage(file.Path, $"'{file.Path}' is deleted", isProvable: true);
                File.Delete(file.Path);
                return deleted;
            case 1:
                int length = random.Next((int)file.Length);
                var cut = new ImageDamage(file.Path, $"'{file.Path}' is cut to {length} bytes", isProvable: true);
                File.WriteAllBytes(file.Path, cut._whole[..length]);
                return cut;
            default:
                return Flip(file, random, durable);
        }
    }

    /// <summary>Returns the position up to which the files in a directory mark everything as durable.</summary>
    public static long DurableOf(string directory)
    {
        if (FilesOf(directory) is not { IsEmpty: false } files)
        {
            return 0;
        }

        long durable = Math.Max(
            LogPromise.OfFile(HostPlatform.Current, files.StorePath, files.All.First().Header.LogId).Durable, files.Files.Count == 0 ? 0 : files.Files[^1].Header.StartPosition);
        foreach (LogFileInfo file in files.Files)
        {
            durable = Math.Max(durable, file.Header.SealedDurable);
            using LogReader reader = LogFileSet.Open(HostPlatform.Current, file);
            while (reader.TryRead(out LogRecord record) || reader.TrySkip(out _))
            {
                durable = Math.Max(durable, record.Durable);
            }
        }

        return durable;
    }

    public void Undo() => File.WriteAllBytes(_path, _whole);

    private static ImageDamage? Flip(LogFileInfo file, Random random, long durable)
    {
        long end = EndOf(file);
        if (end == file.Header.StartPosition)
        {
            return null;
        }

        long position = random.NextInt64(file.Header.StartPosition, end);
        bool isProvable = file.Header.Kind == LogFileKind.Snapshot || position < durable;
        var damage = new ImageDamage(file.Path, $"a bit at position {position} of '{file.Path}' is another (durable below {durable})", isProvable);
        byte[] bytes = [.. damage._whole];
        bytes[LogReader.OffsetOf(file.Header, position)] ^= (byte)(1 << random.Next(8));
        File.WriteAllBytes(file.Path, bytes);
        return damage;
    }

    private static long EndOf(LogFileInfo file)
    {
        using LogReader reader = LogFileSet.Open(HostPlatform.Current, file);
        while (reader.TryRead(out _))
        {
        }

        return reader.Position;
    }

    private static LogFileSet? FilesOf(string directory)
    {
        string? store = Directory.GetFiles(directory, "*.cairn").SingleOrDefault();
        return store is null || new FileInfo(store).Length < StoreLayout.SuperblockBytes ? null : LogFileSet.Find(HostPlatform.Current, store);
    }
}
