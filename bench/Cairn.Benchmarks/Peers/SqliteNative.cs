using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Peers;

/// <summary>The part of sqlite3.h that is used.</summary>
internal static unsafe partial class SqliteNative
{
    public const int Ok = 0;
    public const int Row = 100;
    public const int Done = 101;
    public const int ReadWriteCreate = 0x2 | 0x4;

    /// <summary>SQLITE_STATIC: the bound bytes stay in place until the statement is reset.</summary>
    public const nint StaticBytes = 0;

    private const string Library = "libsqlite3.so.0";

    [LibraryImport(Library, EntryPoint = "sqlite3_open_v2", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Open(string path, out nint database, int flags, string? module);

    [LibraryImport(Library, EntryPoint = "sqlite3_close_v2")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Close(nint database);

    [LibraryImport(Library, EntryPoint = "sqlite3_exec", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Execute(nint database, string sql, nint callback, nint argument, nint error);

    [LibraryImport(Library, EntryPoint = "sqlite3_prepare_v2", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Prepare(nint database, string sql, int sqlBytes, out nint statement, nint tail);

    [LibraryImport(Library, EntryPoint = "sqlite3_finalize")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int FinalizeStatement(nint statement);

    [LibraryImport(Library, EntryPoint = "sqlite3_bind_blob")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int BindBlob(nint statement, int index, byte* start, int length, nint destructor);

    [LibraryImport(Library, EntryPoint = "sqlite3_step")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Step(nint statement);

    [LibraryImport(Library, EntryPoint = "sqlite3_reset")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Reset(nint statement);

    [LibraryImport(Library, EntryPoint = "sqlite3_column_blob")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial byte* ColumnBlob(nint statement, int column);

    [LibraryImport(Library, EntryPoint = "sqlite3_column_bytes")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int ColumnBytes(nint statement, int column);
}
