"""Questions at the terminal: they are asked, and their answers printed as trees and lists."""
