using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Peers;

/// <summary>MDB_val: a block of bytes in memory of LMDB or of the caller.</summary>
[StructLayout(LayoutKind.Sequential)]
internal readonly unsafe struct LmdbBytes(int length, byte* start)
{
    public readonly nuint Length = (nuint)length;
    public readonly byte* Start = start;
}

/// <summary>The part of lmdb.h that is used. Every function that returns an int returns 0 or an error.</summary>
internal static unsafe partial class LmdbNative
{
    public const uint NoSync = 0x10000;
    public const uint ReadOnly = 0x20000;
    public const uint WriteMap = 0x80000;

    private const string Library = "liblmdb.so.0";

    [LibraryImport(Library, EntryPoint = "mdb_env_create")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int CreateEnvironment(out nint environment);

    [LibraryImport(Library, EntryPoint = "mdb_env_set_mapsize")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int SetMapSize(nint environment, nuint bytes);

    [LibraryImport(Library, EntryPoint = "mdb_env_open", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Open(nint environment, string folder, uint flags, uint mode);

    [LibraryImport(Library, EntryPoint = "mdb_env_close")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial void CloseEnvironment(nint environment);

    [LibraryImport(Library, EntryPoint = "mdb_txn_begin")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int BeginTransaction(nint environment, nint parent, uint flags, out nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_commit")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Commit(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_abort")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial void AbortTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_reset")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial void ResetTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_renew")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int RenewTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_dbi_open", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int OpenDatabase(nint transaction, string? name, uint flags, out uint database);

    [LibraryImport(Library, EntryPoint = "mdb_get")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Get(nint transaction, uint database, ref LmdbBytes key, out LmdbBytes value);

    [LibraryImport(Library, EntryPoint = "mdb_put")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    public static partial int Put(nint transaction, uint database, ref LmdbBytes key, ref LmdbBytes value, uint flags);
}
